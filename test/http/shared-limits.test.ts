/** Limits that several nodes keep together, in a real Redis. */
import t, { type Test } from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Accounts } from '../../src/accounts/accounts.js'
import type { Limits } from '../../src/accounts/terms.js'
import type { OiError } from '../../src/errors.js'
import { leaseMs } from '../../src/http/access/shared/scripts.js'
import { SharedAdmission } from '../../src/http/access/shared/shared-admission.js'
import { SharedLimits } from '../../src/http/access/shared/shared-limits.js'
import { dataFolder } from '../helpers/data-folder.js'
import { sameServers } from '../helpers/nodes.js'
import { readPrometheus } from '../helpers/prometheus.js'
import { RedisServer, withoutRedis } from '../helpers/redis-server.js'
import { until } from '../helpers/until.js'
import { post } from '../helpers/asking.js'
import { about } from '../helpers/batch.js'

const skip = withoutRedis

/** A node: its own accounts, which agree with those of the others, and its own connection. */
async function nodeOf(t: Test, redis: RedisServer, limits: Partial<Limits>, placeWaitMs = 10_000) {
  const accounts = new Accounts({ dataDir: dataFolder(t) })
  const { secret } = accounts.createFirstKey()!
  const caller = accounts.authenticate(`Bearer ${secret}`)
  accounts.terms.setLimits(caller.workspaceId, limits)
  const changes: boolean[] = []
  const shared = new SharedLimits({ url: redis.url, onChange: (up) => changes.push(up) })
  t.teardown(() => {
    shared.close()
    accounts.close()
  })
  await until(() => shared.up)
  const admission = new SharedAdmission({ accounts, placeWaitMs }, shared)
  /** What a request does at its head and before the model. */
  const enter = async (patient = false) => {
    admission.take(caller, 1)
    await admission.enter(caller, { patient })
  }
  return { caller, changes, enter, admission, leave: () => admission.leave(caller), shared }
}

const nodesOf = (t: Test, redis: RedisServer, count: number, limits: Partial<Limits>) =>
  Promise.all(Array.from({ length: count }, () => nodeOf(t, redis, limits)))

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'taken',
    (error: OiError) => error.code,
  )

t.test('three nodes let in as many requests a minute as one, to the last', { skip }, async (t) => {
  const redis = await RedisServer.start(t)
  const nodes = await nodesOf(t, redis, 3, { requestsPerMinute: 100 })
  const asked = Array.from({ length: 300 }, (_, i) => nodes[i % 3]!.enter())
  const codes = await Promise.all(asked.map(codeOf))
  t.equal(codes.filter((code) => code === 'taken').length, 100)
  t.equal(codes.filter((code) => code === 'ERR_RATE_LIMIT').length, 200)
  const [node] = nodes
  const error = await node!.enter().catch((error: unknown) => error)
  t.match(error, { code: 'ERR_RATE_LIMIT', message: /^The workspace default has 100 requests/ })
  const { retryAfterMs } = error as OiError
  t.ok(retryAfterMs! > 50_000 && retryAfterMs! <= 60_000, `${retryAfterMs} ms`)
  const headers = node!.admission.headers(node!.caller)
  t.equal(headers[headers.indexOf('x-ratelimit-remaining-requests') + 1], '0')
})

t.test('who is refused again and again is let in when the minute is over', { skip }, async (t) => {
  const redis = await RedisServer.start(t)
  const node = await nodeOf(t, redis, { requestsPerMinute: 1 })
  await node.enter()
  const store = new Redis(redis.url)
  t.teardown(() => store.disconnect())
  const key = `oi:{${node.caller.workspaceId}}:minute`
  const before = await store.pttl(key)
  await sleep(200)
  for (let i = 0; i < 5; i++)
    t.equal(await codeOf(node.admission.enter(node.caller, {})!), 'ERR_RATE_LIMIT')
  const after = await store.pttl(key)
  t.ok(after <= before - 200, 'a refusal does not keep the key alive')
})

t.test('never more requests run on all nodes than there are places', { skip }, async (t) => {
  const redis = await RedisServer.start(t)
  const nodes = await nodesOf(t, redis, 3, { concurrent: 4 })
  let [running, most] = [0, 0]
  const ask = async (i: number) => {
    const node = nodes[i % 3]!
    await node.enter(true)
    most = Math.max(most, ++running)
    await sleep(5 + (i % 7))
    running--
    node.leave()
  }
  await Promise.all(Array.from({ length: 60 }, (_, i) => ask(i)))
  t.equal(most, 4)
})

t.test('a request that waits for a place too long is refused', { skip }, async (t) => {
  const redis = await RedisServer.start(t)
  const holder = await nodeOf(t, redis, { concurrent: 1 })
  const other = await nodeOf(t, redis, { concurrent: 1 }, 100)
  await holder.enter()
  t.equal(await codeOf(other.enter()), 'ERR_CONCURRENCY')
  holder.leave()
  t.equal(await codeOf(other.enter()), 'taken')
})

t.test('the places of a node that has died are free when its leases end', { skip }, async (t) => {
  const redis = await RedisServer.start(t)
  const dead = await nodeOf(t, redis, { concurrent: 2 })
  const other = await nodeOf(t, redis, { concurrent: 2 })
  await dead.enter()
  await dead.enter()
  dead.shared.close()
  const beginMs = performance.now()
  await other.enter(true)
  const ms = performance.now() - beginMs
  t.ok(ms > leaseMs / 2 && ms < 1.5 * leaseMs, `after ${Math.round(ms)} ms`)
})

t.test('a lease lasts as long as its request, however long that is', { skip }, async (t) => {
  const redis = await RedisServer.start(t)
  const holder = await nodeOf(t, redis, { concurrent: 1 })
  const other = await nodeOf(t, redis, { concurrent: 1 }, 1.5 * leaseMs)
  await holder.enter()
  t.equal(await codeOf(other.enter()), 'ERR_CONCURRENCY')
})

t.test(
  'without the store each node keeps the limits by itself, and nobody waits',
  { skip },
  async (t) => {
    const redis = await RedisServer.start(t)
    const limits = { requestsPerMinute: 3, concurrent: 2 }
    const [a, b] = await Promise.all([1, 2].map(() => nodeOf(t, redis, limits, 100)))
    await a!.enter()
    await redis.kill()
    await until(() => !a!.shared.up && !b!.shared.up)
    const beginMs = performance.now()
    t.equal(await codeOf(a!.enter()), 'taken')
    t.equal(await codeOf(b!.enter()), 'taken')
    t.ok(performance.now() - beginMs < 100)
    t.equal(await codeOf(a!.enter()), 'ERR_CONCURRENCY', 'its own places')
    await redis.start()
    await until(() => a!.shared.up && b!.shared.up)
    t.strictSame(a!.changes, [true, false, true])
    // The request that ran through it all holds its place again, in a store that knew nothing.
    const store = new Redis(redis.url)
    t.teardown(() => store.disconnect())
    await until(async () => (await store.zcard(`oi:{${a!.caller.workspaceId}}:places`)) === 1)
  },
)

t.test(
  'a store that hangs delays one answer by a quarter of a second, and no more',
  { skip },
  async (t) => {
    const redis = await RedisServer.start(t)
    const node = await nodeOf(t, redis, { requestsPerMinute: 100 })
    redis.signal('SIGSTOP')
    const beginMs = performance.now()
    t.equal(await codeOf(node.enter()), 'taken')
    const firstMs = performance.now() - beginMs
    t.ok(firstMs >= 200 && firstMs < 1500, `${Math.round(firstMs)} ms`)
    for (let i = 0; i < 10; i++) t.equal(await codeOf(node.enter()), 'taken')
    t.ok(performance.now() - beginMs - firstMs < 100)
    redis.signal('SIGCONT')
    await until(() => node.shared.up)
  },
)

t.test('a limit of 0 asks the store for nothing', { skip }, async (t) => {
  const redis = await RedisServer.start(t)
  const node = await nodeOf(t, redis, { requestsPerMinute: 0, concurrent: 0 })
  t.equal(node.admission.enter(node.caller, {}), undefined)
})

t.test(
  'three servers with --limits count together, and say whether they do',
  { skip },
  async (t) => {
    const redis = await RedisServer.start(t)
    const { servers, key } = await sameServers(
      t,
      3,
      () => ({ model: 'fake', args: ['--limits', redis.url.replace('//', '//default:@')] }),
      (accounts) =>
        accounts.terms.setLimits(accounts.workspaces.get('default').id, { requestsPerMinute: 50 }),
    )
    const shared = async (i: number) => {
      const text = await (await fetch(servers[i]!.url('/metrics'))).text()
      return readPrometheus(text).get('oi_limits_shared')!.samples.get('oi_limits_shared')
    }
    for (let i = 0; i < 3; i++) await until(async () => (await shared(i)) === 1)
    const ask = (i: number, state: string) =>
      post({ url: servers[i % 3]!.url(''), key }, about(state))
    const replies = await Promise.all(Array.from({ length: 120 }, (_, i) => ask(i, `Day ${i}`)))
    const statuses = replies.map(({ status }) => status)
    t.equal(statuses.filter((status) => status === 200).length, 50)
    t.equal(statuses.filter((status) => status === 429).length, 70)
    await redis.kill()
    await until(async () => (await shared(0)) === 0)
    t.match(
      servers[0]!.said,
      /Limits are kept by this node alone: redis:\/\/127\.0\.0\.1:\d+ does not/,
    )
    t.equal((await ask(0, 'A day later')).status, 200, 'this node has not let in 50')
  },
)
