/** Batches that end early: by their client, the clock, or the server's end. And slow ones. */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { mostUnderWay } from '../../src/http/requests/batch-run.js'
import { batchPath, linesType } from '../helpers/asking.js'
import { numbers, postBatch, readLines, replyOf, requestsAbout } from '../helpers/batch.js'
import { decision, Slow, stubDecider, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

t.test('a client that leaves cancels the running items, and no others begin', async (t) => {
  for (const accept of ['application/json', linesType]) {
    const slow = new Slow()
    await withServer({ decider: stubDecider(slow.decide) }, async (server) => {
      const leaving = new AbortController()
      const asked = postBatch(
        server,
        requestsAbout(numbers(mostUnderWay + 20)),
        { accept },
        leaving.signal,
      )
      asked.then((reply) => reply.text()).catch(() => {})
      await until(() => slow.signals.length === mostUnderWay)
      leaving.abort()
      await until(() => server.handlers.running.size === 0)
      t.ok(slow.signals.every(({ aborted }) => aborted))
      await sleep(20)
      t.equal(slow.signals.length, mostUnderWay)
      t.match(JSON.parse(server.log[0]!), { path: batchPath, status: 0 })
    })
  }
})

t.test('the deadline ends unanswered items with 504, and keeps the answers', async (t) => {
  const one = async (accept: string) => {
    const slow = new Slow()
    const decider = stubDecider((asked, options) =>
      asked.state === 1 ? Promise.resolve(decision) : slow.decide(asked, options),
    )
    // Long enough for the first answer, even if a thread stands still.
    await withServer({ decider, deadlineMs: 3000 }, async (server) => {
      const reply = await postBatch(server, requestsAbout([0, 1, 2]), { accept })
      t.equal(reply.status, 200)
      const text = await reply.text()
      const { results } =
        accept === linesType ? readLines(text) : (JSON.parse(text) as ReturnType<typeof readLines>)
      t.match(
        results.toSorted((a, b) => a.index - b.index),
        [
          { index: 0, status: 504, error: { code: 'timeout', message: /3000 ms/ } },
          { index: 1, status: 200 },
          { index: 2, status: 504 },
        ],
      )
      t.ok(slow.signals.every(({ aborted }) => aborted))
      t.equal(server.handlers.running.size, 0)
    })
  }
  await Promise.all(['application/json', linesType].map(one))
})

t.test("the server's end gives 503 to unanswered items", async (t) => {
  const slow = new Slow()
  const decider = stubDecider((asked, options) =>
    asked.state === 0 ? Promise.resolve(decision) : slow.decide(asked, options),
  )
  await withServer({ decider }, async (server) => {
    const asked = postBatch(server, requestsAbout([0, 1]))
    await until(() => slow.signals.length === 1)
    await server.server.close(50)
    const { results } = await replyOf(await asked)
    t.match(results, [{ status: 200 }, { status: 503, error: { code: 'overloaded' } }])
    t.ok(slow.signals[0]!.aborted)
  })
})

t.test('running batches finish while the server ends', async (t) => {
  const slow = new Slow()
  await withServer({ decider: stubDecider(slow.decide) }, async (server) => {
    const asked = postBatch(server, requestsAbout([0, 1]), { accept: linesType })
    await until(() => slow.signals.length === 2)
    const closed = server.server.close(10_000)
    slow.release()
    const { results } = readLines(await (await asked).text())
    const statuses = results.map(({ status }) => status)
    t.strictSame(statuses, [200, 200])
    await closed
  })
})
