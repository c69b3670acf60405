/** POST /v1/systemone/batch: envelopes, results and totals. */
import t from 'tap'
import { validators } from '../../src/api/schemas.js'
import type { DecideOptions } from '../../src/decide/types.js'
import { batchPath } from '../helpers/asking.js'
import { about, numbers, postBatch, replyOf, requestsAbout, type Result } from '../helpers/batch.js'
import { readPrometheus } from '../helpers/prometheus.js'
import { decision, stubDecider, withFake, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const indexes = (results: readonly Result[]) => results.map(({ index }) => index)

t.test('results are in the order of the requests, whichever ends first', async (t) => {
  const ends: (() => void)[] = []
  const decider = stubDecider(() => new Promise((resolve) => ends.push(() => resolve(decision))))
  await withServer({ decider }, async (server) => {
    const asked = postBatch(server, requestsAbout(numbers(5)))
    await until(() => ends.length >= 5)
    for (const end of ends.reverse()) {
      end()
      await new Promise(setImmediate)
    }
    const reply = await asked
    t.equal(reply.status, 200)
    t.equal(reply.headers.get('content-type'), 'application/json')
    const body = await replyOf(reply)
    t.ok(validators.batchResponse.Check(body))
    t.strictSame(indexes(body.results), numbers(5))
  })
})

t.test('totals: tokens are added, times are the longest and the whole', async (t) => {
  const decider = stubDecider(async ({ state }) => ({
    ...decision,
    usage: {
      ...{ input_tokens: 10, output_tokens: 3 },
      ...(state === 1 && { image_tokens: 4 }),
    },
    cached_tokens: 1,
    timings: { queue: 5 + Number(state), tokenize: 2, vision: 0, model: 1e6 },
  }))
  await withServer({ decider }, async (server) => {
    const reply = await postBatch(server, requestsAbout([0, 1, 2]))
    const { usage, latency_ms: latencyMs } = await replyOf(reply)
    t.strictSame(usage, {
      ...{ input_tokens: 30, output_tokens: 9, image_tokens: 4 },
    })
    t.equal(reply.headers.get('x-oi-cached-tokens'), '3')
    t.ok(latencyMs > 0 && latencyMs < 1e6, 'a time that passed, and not the sum of the items')
    const timing = reply.headers.get('server-timing')!
    t.match(timing, /^queue;dur=7\.00, tokenize;dur=2\.00, vision;dur=0\.00, model;dur=\d+\.\d\d, /)
    const modelMs = Number(/model;dur=([\d.]+)/.exec(timing)![1])
    // Two places of three: a last 5 goes either way.
    t.ok(Math.abs(modelMs - latencyMs) < 0.0051, `${modelMs} is ${latencyMs}`)
  })
})

t.test('evidence, workspace and deadline reach every item', async (t) => {
  const given: DecideOptions[] = []
  const decider = stubDecider(async (_request, options) => {
    given.push(options!)
    return decision
  })
  await withServer({ decider, deadlineMs: 60_000 }, async (server) => {
    await postBatch(server, requestsAbout([1, 2]), { 'x-oi-evidence': '1' })
    await postBatch(server, requestsAbout([1]), { 'x-oi-evidence': 'yes' })
  })
  t.strictSame(
    given.map(({ evidence, workspace }) => [evidence, workspace]),
    [
      [true, 1],
      [true, 1],
      [false, 1],
    ],
  )
  t.ok(given.every(({ deadlineMs }) => deadlineMs! > 0 && deadlineMs! <= 60_000))
})

t.test('calls are counted by route, and items by status', (t) =>
  withFake({}, async (server) => {
    await postBatch(server, { requests: [about(1), 2, about(3)] })
    await postBatch(server, '{')
    const metrics = readPrometheus(await (await fetch(`${server.url}/metrics`)).text())
    const { samples: calls } = metrics.get('oi_http_requests_total')!
    t.equal(calls.get(`oi_http_requests_total{route="${batchPath}",status="200"}`), 1)
    t.equal(calls.get(`oi_http_requests_total{route="${batchPath}",status="422"}`), 1)
    const items = 'oi_http_batch_items_total'
    t.strictSame(Object.fromEntries(metrics.get(items)!.samples), {
      [`${items}{status="200"}`]: 2,
      [`${items}{status="422"}`]: 1,
    })
  }),
)
