import t from 'tap'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { Accounts } from '../../src/accounts/accounts.js'
import { get } from '../helpers/asking.js'
import { codeOf, limitsOf, withLimits } from '../helpers/limited.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { decision, Slow, stubDecider } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const none = { requests: [null, null, null], concurrent: [null, null] }

t.test('every authenticated reply, also an error, has the limits', (t) =>
  withLimits({ requestsPerMinute: 10, concurrent: 3 }, {}, async (server) => {
    const { key, clock, post } = server
    const models = await get(server, '/v1/models')
    t.strictSame(limitsOf(models), { requests: ['10', '10', '0'], concurrent: ['3', '3'] })
    // A request counts itself among the concurrent ones.
    t.strictSame(limitsOf(await post()), { requests: ['10', '9', '60'], concurrent: ['3', '2'] })
    clock.nowMs += 1500
    const usage = await get(server, '/v1/usage')
    t.strictSame(limitsOf(usage), { requests: ['10', '9', '59'], concurrent: ['3', '3'] })
    const bad = await post(key, { body: '{' })
    t.equal(bad.status, 422)
    // An unreadable request takes no place.
    t.strictSame(limitsOf(bad), { requests: ['10', '8', '60'], concurrent: ['3', '3'] })
    clock.nowMs += 58_500
    t.match(limitsOf(await get(server, '/v1/usage')), { requests: ['10', '9', '2'] })
  }),
)

t.test('unlimited figures have no headers, and no limit', (t) =>
  withLimits({ requestsPerMinute: 0, concurrent: 0 }, {}, async (server) => {
    const { accounts, workspaceId, post } = server
    for (let i = 0; i < 20; i++) t.strictSame(limitsOf(await post()), none)
    accounts.terms.setLimits(workspaceId, { concurrent: 2 })
    t.strictSame(limitsOf(await post()), { ...none, concurrent: ['2', '1'] })
    accounts.terms.setLimits(workspaceId, { requestsPerMinute: 5, concurrent: 0 })
    t.strictSame(limitsOf(await post()), { ...none, requests: ['5', '4', '60'] })
  }),
)

t.test('beyond the requests per minute: 429, and its retry-after is exact', (t) =>
  withLimits({ requestsPerMinute: 2 }, {}, async ({ clock, post }) => {
    t.equal((await post()).status, 200)
    clock.nowMs += 10_000
    t.equal((await post()).status, 200)
    const refusal = async (ms: number) => {
      const reply = await post()
      t.equal(reply.status, 429)
      const told = Number(reply.headers.get('retry-after-ms'))
      t.ok(told >= ms && told <= Math.min(60_000, 1.5 * ms + 1), `${told} ms`)
      t.equal(reply.headers.get('retry-after'), String(Math.ceil(told / 1000)))
      t.equal(reply.headers.get('x-ratelimit-remaining-requests'), '0')
      t.equal(await codeOf(reply), 'rate_limit_exceeded')
    }
    clock.nowMs += 10_000
    await refusal(40_000)
    clock.nowMs += 39_999
    await refusal(1)
    clock.nowMs += 1
    t.equal((await post()).status, 200, 'refused requests have not used up the minute')
    await refusal(10_000)
    clock.nowMs += 10_000
    t.equal((await post()).status, 200)
    await refusal(50_000)
  }),
)

t.test('a request beyond the concurrent ones waits, and then: 429', (t) => {
  const slow = new Slow()
  return withLimits(
    { requestsPerMinute: 100, concurrent: 1 },
    { decider: stubDecider(slow.decide), placeWaitMs: 20 },
    async (server) => {
      const { clock, key, port, post } = server
      const first = post()
      await until(() => slow.signals.length >= 1)
      const refused = await post()
      t.equal(refused.status, 429)
      t.match(refused.headers.get('retry-after'), /^[1-9]\d?$/)
      t.match(refused.headers.get('retry-after-ms'), /^[1-9]\d*$/)
      t.strictSame(
        limitsOf(refused),
        { requests: ['100', '99', '60'], concurrent: ['1', '0'] },
        'it has not used up one of the minute',
      )
      t.equal(await codeOf(refused), 'concurrency_limit_exceeded')
      clock.nowMs += 2500
      slow.release()
      t.equal((await first).status, 200)

      // A client that leaves gives its place back too.
      const client = await RawClient.connect(port)
      client.send(request('POST', '/v1/systemone', { authorization: `Bearer ${key}` }, '{}'))
      await until(() => slow.signals.length >= 2)
      const predicted = await post()
      const told = Number(predicted.headers.get('retry-after-ms'))
      t.ok(told >= 2500 && told <= 3750, `as long as the first one took: ${told} ms`)
      client.socket.destroy()
      await until(() => slow.signals[1]!.aborted)
      const last = post()
      await until(() => slow.signals.length >= 3)
      slow.release()
      t.equal((await last).status, 200)
    },
  )
})

t.test('limits that another process changed apply to the next request', (t) =>
  withLimits({ requestsPerMinute: 1 }, {}, async ({ dataDir, workspaceId, post }) => {
    const elsewhere = new Accounts({ dataDir })
    t.equal((await post()).status, 200)
    t.equal((await post()).status, 429)
    elsewhere.terms.setLimits(workspaceId, { requestsPerMinute: 3 })
    t.equal((await post()).headers.get('x-ratelimit-remaining-requests'), '1')
    elsewhere.terms.setLimits(workspaceId, { requestsPerMinute: 1 })
    const reply = await post()
    t.equal(reply.status, 429)
    t.strictSame(limitsOf(reply).requests, ['1', '0', '60'])
    elsewhere.close()
  }),
)

t.test('a workspace without balance is refused before the model: 402', async (t) => {
  let asked = 0
  const decider = stubDecider(async () => {
    asked++
    return decision
  })
  await withLimits({ requestsPerMinute: 10 }, { decider }, async (server) => {
    const { accounts, dataDir, workspaceId, post } = server
    accounts.prices.set('stub', { input: 1_000_000, output: 1_000_000 })
    accounts.credits.add(workspaceId, 16)
    // 12 tokens in, 3 out: 15 each. The rest pays for a last one.
    t.equal((await post()).status, 200)
    t.equal((await post()).status, 200)
    const refused = await post()
    t.equal(refused.status, 402)
    t.equal(refused.headers.get('x-ratelimit-remaining-requests'), '8')
    t.equal(await codeOf(refused), 'insufficient_balance')
    t.equal(asked, 2)
    t.match(accounts.usage('default'), { workspace: { balance: -14 }, usage: [{ requests: 2 }] })

    const elsewhere = new Accounts({ dataDir })
    elsewhere.credits.add(workspaceId, 15)
    t.equal((await post()).status, 200, 'credited in another process')
    t.equal((await post()).status, 402)
    elsewhere.credits.makeUnlimited(workspaceId)
    elsewhere.close()
    t.equal((await post()).status, 200)
  })
})

t.test(
  "64 clients get exactly their workspace's limit, and do not affect another workspace",
  async (t) => {
    let [running, most] = [0, 0]
    const decider = stubDecider(async (_request, { workspace } = {}) => {
      if (workspace !== 1) return decision
      most = Math.max(most, ++running)
      // Until every request so far is admitted or refused.
      await turn()
      running--
      return decision
    })
    const limits = { requestsPerMinute: 600, concurrent: 4 }
    await withLimits(limits, { decider }, async ({ accounts, clock, workspaceId, post }) => {
      t.equal(workspaceId, 1)
      accounts.workspaces.create('other')
      const { secret } = accounts.createKey('other', 'key')
      const hammer = async (clients: number) => {
        const answered = { ok: 0, refused: 0 }
        const client = async () => {
          for (;;) {
            const reply = await post()
            const code = reply.status === 200 ? '' : await codeOf(reply)
            const { requests, concurrent } = limitsOf(reply)
            if (requests[0] !== '600' || concurrent[0] !== '4') throw new Error('wrong limits')
            if (code === '') answered.ok++
            else if (code === 'concurrency_limit_exceeded') await sleep(10)
            else if (code === 'rate_limit_exceeded') {
              answered.refused++
              if (requests[1] !== '0') throw new Error(`refused, but ${requests[1]} remain`)
              return
            } else throw new Error(code)
          }
        }
        await Promise.all(Array.from({ length: clients }, client))
        return answered
      }
      const other = async () => {
        for (let i = 1; i <= 50; i++) {
          const reply = await post(secret)
          t.equal(reply.status, 200)
          t.strictSame(limitsOf(reply).requests, ['6000', String(6000 - i), '60'])
          t.strictSame(limitsOf(reply).concurrent, ['256', '255'])
        }
      }
      const [first] = await Promise.all([hammer(64), other()])
      t.match(first, { ok: 600, refused: 64 })
      t.ok(most <= 4, `${most} at once`)
      clock.nowMs += 59_999
      t.match(await hammer(64), { ok: 0, refused: 64 })
      clock.nowMs += 1
      t.match(await hammer(4), { ok: 600, refused: 4 })
      t.ok(most <= 4, `${most} at once`)
    })
  },
)
