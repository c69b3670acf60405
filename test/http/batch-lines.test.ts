/**
 * Batches answered in lines: one result each, as soon as it is ready. What is in the lines: the
 * rules of conformance, and the examples of the OpenAPI document.
 */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { batchPath, linesType } from '../helpers/asking.js'
import {
  linesOf,
  numbers,
  openBatch,
  postBatch,
  readLines,
  requestsAbout,
} from '../helpers/batch.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { decision, stubDecider, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

t.test('how a client asks for lines', (t) =>
  withServer({}, async (server) => {
    for (const [accept, lines] of [
      ['application/x-ndjson', true],
      ['Application/X-NDJSON; q=0.9', true],
      ['text/html, application/x-ndjson', true],
      ['application/json', false],
      ['application/x-ndjson2', false],
      ['application/json;q=0.5, application/x-ndjson', true],
      ['application/x-ndjson;q=0.5, */*;q=0.1', true],
      ['application/x-ndjson;charset=utf-8', true],
      ['application/*;q=0.2, application/x-ndjson;q=0.1', false],
    ] as const) {
      const reply = await postBatch(server, requestsAbout([1]), { accept })
      t.equal(reply.headers.get('content-type'), lines ? linesType : 'application/json', accept)
      await reply.text()
    }
  }),
)

t.test('a line arrives before the others are answered', async (t) => {
  const ends: (() => void)[] = []
  const decider = stubDecider(() => new Promise((resolve) => ends.push(() => resolve(decision))))
  await withServer({ decider }, async (server) => {
    const asked = postBatch(server, requestsAbout(numbers(3)), { accept: linesType })
    await until(() => ends.length === 3)
    ends[1]!()
    const lines = linesOf(await asked)
    const next = async () => JSON.parse((await lines.next()).value!) as object
    t.match(await next(), { index: 1, status: 200 })
    ends[2]!()
    t.match(await next(), { index: 2 })
    ends[0]!()
    t.match(await next(), { index: 0 })
    t.match(await next(), { latency_ms: Number })
    t.ok((await lines.next()).done)
  })
})

t.test('long lines in many alphabets arrive whole', async (t) => {
  const texts = ['x', 'é', '語', '\u{1F600}'].map((letter) => letter.repeat(100_001))
  const decider = stubDecider(async ({ state }) => ({
    ...decision,
    model: texts[Number(state)]!,
  }))
  await withServer({ decider }, async (server) => {
    const states = texts.map((_, i) => i)
    const reply = await postBatch(server, requestsAbout(states), { accept: linesType })
    for (const result of readLines(await reply.text()).results) {
      t.ok((result as { model?: string }).model === texts[result.index])
    }
  })
})

t.test('the connection goes on after the last line', (t) =>
  withServer({}, async (server) => {
    using client = await RawClient.connect(server.port)
    const headers = { authorization: `Bearer ${server.key}`, accept: linesType }
    for (let i = 0; i < 2; i++) {
      client.send(request('POST', batchPath, headers, JSON.stringify(requestsAbout([1]))))
      await until(() => client.rest.endsWith('\r\n0\r\n\r\n'))
      t.match(client.rest, /\r\ntransfer-encoding: chunked\r\n/i)
      client.clear()
    }
    client.send(request('GET', '/healthz'))
    t.equal((await client.reply()).status, 200)
  }),
)

t.test('a client that reads slowly delays no other client, and is not given up', async (t) => {
  const long = { ...decision, model: 'm'.repeat(100_000) }
  const decider = stubDecider(async ({ state }) => (state === 'short' ? decision : long))
  await withServer({ decider }, async (server) => {
    const slow = await openBatch(server, requestsAbout(numbers(256)))
    const other = await postBatch(server, requestsAbout(['short']))
    t.equal(other.status, 200)
    let bytes = 0
    for await (const part of slow) {
      bytes += (part as Buffer).length
      await sleep(1)
    }
    t.ok(bytes > 256 * 100_000)
  })
})
