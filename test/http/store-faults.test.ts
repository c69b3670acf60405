/**
 * The accounts fail under a running server, at each moment of a request: the process goes on, every
 * reply is in the contract's form, and charges match answers.
 */
import t, { type Test } from 'tap'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OiError } from '../../src/errors.js'
import { audit, isBalanced } from '../helpers/audit.js'
import { codeOf, type LimitedServer, withLimits } from '../helpers/limited.js'
import { Slow, stubDecider } from '../helpers/stub.js'
import { noDisk, smallDisk } from '../helpers/small-disk.js'
import { lock, type StoreFault, storeFaults } from '../helpers/store-faults.js'
import { until } from '../helpers/until.js'

// The machine may be busy, and locks are held for seconds.
t.setTimeout(180_000)
process.env['XDG_STATE_HOME'] = t.testdir()

const limits = { requestsPerMinute: 0, concurrent: 0 }
const credits = 1_000_000_000

/** A price and optionally a balance. */
function charge({ accounts, workspaceId }: LimitedServer, balance: boolean): void {
  accounts.prices.set('stub', { input: 1_000_000 })
  if (balance) accounts.credits.add(workspaceId, credits)
}

for (const fault of storeFaults) {
  for (const balance of [true, false]) {
    const title = `${fault.name}, ${balance ? 'with' : 'without'} a balance`
    const skip = fault.ownDisk && noDisk
    t.test(
      `${title}: the server goes on, nothing is charged wrongly, and it recovers`,
      { skip },
      (t) => atEachMoment(t, fault, balance),
    )
  }
}

async function atEachMoment(t: Test, fault: StoreFault, balance: boolean): Promise<void> {
  const disk = fault.ownDisk ? smallDisk(t) : undefined
  const dataDir = disk === undefined ? undefined : join(disk, 'data')
  const slow = new Slow()
  const decider = stubDecider(slow.decide)
  await withLimits(limits, { decider, ...(dataDir && { dataDir }) }, async (server) => {
    const { accounts, dataDir, post, url, key, handlers } = server
    charge(server, balance)
    const answered = async () => {
      const reply = post()
      await until(() => slow.signals.length > 0)
      slow.signals.length = 0
      slow.release()
      return (await reply).status
    }
    t.equal(await answered(), 200)
    let [answers, tries] = [1, 1]
    const count = (status: number) => {
      tries++
      if (status === 200) answers++
      t.ok([200, 503].includes(status), String(status))
    }
    // During the request: the fault comes between the head and the booking.
    const running = post()
    await until(() => slow.signals.length > 0)
    slow.signals.length = 0
    const end = await fault.begin(dataDir)
    slow.release()
    count((await running).status)
    // At entry, and in everything else that needs the accounts.
    const later = Array.from({ length: 5 }, () => post())
    const releasing = setInterval(() => slow.release(), 5)
    for (const reply of later) count((await reply).status)
    const headers = { authorization: `Bearer ${key}` }
    for (const [path, init, expected] of [
      ['/healthz', {}, [200]],
      ['/v1/models', { headers }, [200, 503]],
      ['/v1/usage', { headers }, [200, 503]],
      ['/v1/models', { headers: { authorization: `Bearer oi-${'a'.repeat(43)}` } }, [401, 503]],
      ['/readyz', {}, [200, 503]],
      ['/metrics', {}, [200]],
    ] as const) {
      const reply = await fetch(url + path, init)
      const { status } = reply
      t.ok((expected as readonly number[]).includes(status), `${path}: ${status}`)
      if (status === 503) t.match(reply.headers.get('retry-after'), /^\d+$/)
      await reply.text()
    }
    await sleep(1200)
    count((await post()).status)
    end()
    // The accounts recover by themselves.
    for (let status = 0; status !== 200;) {
      await sleep(50)
      status = (await post()).status
      count(status)
    }
    await until(() => accounts.trouble() === undefined && accounts.ledger.pendingAnswers === 0)
    clearInterval(releasing)
    t.equal((await fetch(`${url}/readyz`)).status, 200)
    t.equal(handlers.running.size, 0)
    const seen = audit(dataDir)
    t.ok(isBalanced(seen), JSON.stringify(seen))
    // A copy that was in place for a while has the bookings of that time.
    const lost = fault.name === 'a copy takes its place' ? tries : 0
    t.ok(seen.booked <= answers && seen.booked >= answers - lost, `${seen.booked} of ${answers}`)
    if (balance) t.equal(seen.balance, credits - 12 * seen.booked)
  })
}

t.test('a lock of seconds: only requests that must be charged wait for it', (t) =>
  withLimits(limits, {}, async (server) => {
    const { accounts, dataDir, url, post, key, log } = server
    charge(server, true)
    accounts.workspaces.create('free')
    const { secret } = accounts.createKey('free', 'k')
    t.equal((await post()).status, 200)
    const unlock = await lock(dataDir)
    const begunMs = performance.now()
    const times: number[] = []
    const alive = new Set<number>()
    const refusals = new Set<string>()
    let [free, refused, first] = [0, 0, 0]
    while (performance.now() - begunMs < 3500) {
      const sinceMs = performance.now()
      alive.add((await fetch(`${url}/healthz`)).status)
      times.push(performance.now() - sinceMs)
      if ((await post(secret)).status === 200) free++
      const reply = await post(key)
      const wait = /^\d+$/.test(reply.headers.get('retry-after') ?? '') ? 'retry-after' : 'no time'
      refusals.add(`${reply.status} ${await codeOf(reply)}, ${wait}`)
      first ||= performance.now() - begunMs
      refused++
    }
    t.strictSame([...alive], [200])
    t.strictSame([...refusals], ['503 overloaded, retry-after'])
    t.ok(first < 2500, `the first refusal came after ${first} ms`)
    t.ok(refused > 20, `${refused}: from then on they come at once`)
    t.equal(free, times.length, 'without a balance answers go on')
    const median = times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!
    t.ok(median < 50, `a median of ${median} ms`)
    const ready = await fetch(`${url}/readyz`)
    t.equal(ready.status, 503)
    t.match(((await ready.json()) as { detail: string }).detail, /accounts.*locked/)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    t.match(metrics, /^oi_accounts_failing 1$/m)
    t.match(metrics, new RegExp(`^oi_accounts_pending_bookings ${free}$`, 'm'))
    t.match(metrics, /^oi_accounts_failed_writes_total [1-9]/m)
    t.match(metrics, /^oi_accounts_wal_bytes [1-9]/m)
    unlock()
    await until(() => accounts.trouble() === undefined && accounts.ledger.pendingAnswers === 0)
    t.equal((await post()).status, 200)
    t.match(audit(dataDir), { booked: 2, balance: credits - 24 })
    t.match(audit(dataDir, 'free'), { booked: free })
    const said = log.filter((line) => line.includes('"notice"'))
    const told = said.filter((line) => !/usage (of|is kept)/.test(line))
    t.match(told, [/cannot be written.*locked/, /can be written again/])
    t.equal(told.length, 2)
    t.equal(said.filter((line) => line.includes('usage is kept')).length, 1)
  }),
)

/** @returns False if another connection holds the lock of the file. */
function changed(change: () => void): boolean {
  try {
    change()
    return true
  } catch (error) {
    if (error instanceof OiError && error.code === 'ERR_OVERLOADED') return false
    throw error
  }
}

t.test('an exception of any call of the accounts does not end the process', (t) =>
  withLimits(limits, {}, async (server) => {
    const { accounts, url, key, post } = server
    const headers = { authorization: `Bearer ${key}` }
    const parts = [
      ...[accounts, accounts.terms, accounts.prices, accounts.changes].map(
        (part) => part as object,
      ),
    ]
    let tried = 0
    const setConcurrent = (concurrent: number) =>
      accounts.terms.setLimits(server.workspaceId, { concurrent })
    for (const part of parts) {
      for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(part))) {
        const { value } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(part), name)!
        // Functions that are documented never to throw are left out.
        if (typeof value !== 'function' || ['constructor', 'close', 'trouble'].includes(name)) {
          continue
        }
        if (part === accounts.prices && name === 'of') continue
        tried++
        // The writer may hold the lock, for which these accounts do not wait.
        await until(() => changed(() => setConcurrent(1000 + tried)))
        Object.defineProperty(part, name, {
          configurable: true,
          value: () => {
            throw new Error('disk I/O error')
          },
        })
        for (const path of ['/v1/models', '/v1/usage', '/readyz', '/metrics', '/healthz']) {
          const { status } = await fetch(url + path, { headers })
          t.ok([200, 500, 503].includes(status), `${name}, ${path}: ${status}`)
        }
        const { status } = await post()
        t.ok([200, 500, 503].includes(status), `${name}: ${status}`)
        Reflect.deleteProperty(part, name)
        t.equal((await post()).status, 200)
      }
    }
    t.ok(tried > 10)
  }),
)
