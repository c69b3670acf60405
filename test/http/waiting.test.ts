/** Places: which requests wait for one instead of being refused, and that none is kept out. */
import t from 'tap'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { linesType } from '../helpers/asking.js'
import { linesOf, numbers, postBatch, replyOf, requestsAbout } from '../helpers/batch.js'
import { withLimits } from '../helpers/limited.js'
import { decision, Slow, stubDecider } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

/** Takes a moment, and remembers the most concurrent requests. */
function counting(ms: number) {
  const seen = { running: 0, most: 0 }
  const decider = stubDecider(async () => {
    seen.most = Math.max(seen.most, ++seen.running)
    if (ms > 0) await sleep(ms)
    else await turn()
    seen.running--
    return decision
  })
  return { seen, decider }
}

t.test("the items of a batch keep to their workspace's limit, and all are answered", async (t) => {
  for (const accept of ['application/json', linesType]) {
    const { seen, decider } = counting(0)
    await withLimits({ concurrent: 1 }, { decider }, async (server) => {
      const reply = await postBatch(server, requestsAbout(numbers(256)), { accept })
      const text = await reply.text()
      t.equal(text.match(/"status":200/g)?.length, 256)
      t.equal(seen.most, 1)
    })
  }
})

t.test('a batch does not keep out a single request of its workspace', (t) => {
  const { decider } = counting(1)
  return withLimits({ concurrent: 2 }, { decider }, async (server) => {
    let over = false
    const batch = postBatch(server, requestsAbout(numbers(256))).then(replyOf)
    void batch.then(() => (over = true))
    await sleep(20)
    for (let i = 0; i < 5; i++) t.equal((await server.post()).status, 200)
    t.notOk(over)
    t.equal((await batch).results.filter(({ status }) => status === 200).length, 256)
  })
})

t.test('a request that leaves during the wait gives its turn up', (t) => {
  const slow = new Slow()
  return withLimits({ concurrent: 1 }, { decider: stubDecider(slow.decide) }, async (server) => {
    const first = server.post()
    await until(() => slow.signals.length === 1)
    const leaving = new AbortController()
    server.post(server.key, { signal: leaving.signal }).catch(() => {})
    await until(() => server.handlers.running.size === 2)
    const batch = new AbortController()
    postBatch(server, requestsAbout([1, 2]), {}, batch.signal).catch(() => {})
    await until(() => server.handlers.running.size === 3)
    leaving.abort()
    batch.abort()
    await until(() => server.handlers.running.size === 1)
    const last = server.post()
    slow.release()
    t.equal((await first).status, 200)
    await until(() => slow.signals.length === 2)
    slow.release()
    t.equal((await last).status, 200)
    t.equal(slow.signals.length, 2, 'nobody asked for those that left')
  })
})

t.test('many clients of some workspaces keep no other workspace out', (t) => {
  const { decider } = counting(2)
  return withLimits(
    { concurrent: 0, requestsPerMinute: 0 },
    { decider, places: 16 },
    async (server) => {
      const { accounts, key, post } = server
      const keys = [key, key, key]
      for (const name of ['second', 'third']) {
        accounts.workspaces.create(name)
        keys.push(accounts.createKey(name, 'key').secret)
      }
      accounts.workspaces.create('other')
      const { secret } = accounts.createKey('other', 'key')
      let stopped = false
      const statuses = new Map<number, number>()
      const loops = numbers(60).map(async (i) => {
        while (!stopped) {
          const { status } = await post(keys[i % keys.length])
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
        }
      })
      await sleep(50)
      for (let i = 0; i < 20; i++) t.equal((await post(secret)).status, 200)
      stopped = true
      await Promise.all(loops)
      t.strictSame([...statuses.keys()], [200])
    },
  )
})

t.test("an item's time begins with its turn, and the batch has its own time", async (t) => {
  const { decider } = counting(30)
  await withLimits({ concurrent: 2 }, { decider, deadlineMs: 500 }, async (server) => {
    const startMs = performance.now()
    const { results } = await replyOf(await postBatch(server, requestsAbout(numbers(50))))
    t.ok(performance.now() - startMs > 600)
    t.ok(results.every(({ status }) => status === 200))
  })
  await withLimits({ concurrent: 2 }, { decider, batchDeadlineMs: 200 }, async (server) => {
    const { results } = await replyOf(await postBatch(server, requestsAbout(numbers(50))))
    t.ok(results.some(({ status }) => status === 200))
    t.match(results.at(-1), { status: 504, error: { message: /200 ms/ } })
  })
})

t.test('a waiting stream sends empty lines', (t) => {
  const slow = new Slow()
  const decider = stubDecider(slow.decide)
  return withLimits({}, { decider, heartbeatMs: 30 }, async (server) => {
    const reply = await postBatch(server, requestsAbout([1]), { accept: linesType })
    const lines = linesOf(reply)
    for (let i = 0; i < 3; i++) t.equal((await lines.next()).value, '')
    slow.release()
    let line = ''
    while (line === '') line = (await lines.next()).value!
    t.match(JSON.parse(line), { index: 0, status: 200 })
    t.match(JSON.parse((await lines.next()).value!), { usage: {} })
    t.ok((await lines.next()).done)
  })
})
