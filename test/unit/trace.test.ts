/** Traces: their parents, and the export of spans to good and bad collectors. */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { Exporter } from '../../src/trace/exporter.js'
import { otlpRequest } from '../../src/trace/otlp.js'
import type { Span } from '../../src/trace/span.js'
import { readTraceparent, readTracestate } from '../../src/trace/traceparent.js'
import { Tracer } from '../../src/trace/tracer.js'
import { type Answering, withHttpServer } from '../helpers/http-server.js'
import { until } from '../helpers/until.js'
import { vacantPort } from '../helpers/vacant-port.js'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'

t.test('a traceparent is read by the W3C rules, and a malformed one is ignored', async (t) => {
  t.strictSame(readTraceparent(`00-${traceId}-${parentId}-01`), {
    ...{ traceId, parentId, sampled: true },
  })
  t.match(readTraceparent(`00-${traceId}-${parentId}-00`), { sampled: false })
  t.match(readTraceparent(`01-${traceId}-${parentId}-03-more`), { traceId, sampled: true })
  for (const header of [
    '',
    'x',
    `ff-${traceId}-${parentId}-01`,
    `00-${traceId}-${parentId}-01-more`,
    `00-${traceId.toUpperCase()}-${parentId}-01`,
    `00-${'0'.repeat(32)}-${parentId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.slice(1)}-${parentId}-01`,
  ]) {
    t.equal(readTraceparent(header), undefined, header)
  }
})

t.test(
  'a tracestate is passed on by the W3C rules, and only with a valid traceparent',
  async (t) => {
    const state = 'rojo=00f067aa0ba902b7, congo=t61rcWkgMzE , ,a1@b=,'
    const kept = 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE,a1@b='
    t.equal(readTracestate(state), kept)
    for (const bad of ['', 'x', 'A=1', 'a=1=2', 'a=ü', 'a =1', `a=${'x'.repeat(300)}`]) {
      t.equal(readTracestate(bad), '', bad)
    }
    const many = (count: number) => Array.from({ length: count }, (_, i) => `v${i}=${i}`).join(',')
    t.equal(readTracestate(many(32)), many(32))
    t.equal(readTracestate(many(33)), '')
    const long = ['a', 'b', 'c'].map((name) => `${name}=${'x'.repeat(200)}`)
    t.equal(readTracestate(long.join(',')), long.slice(0, 2).join(','))

    const { spans, tracer } = tracing(100)
    for (const parent of [`00-${traceId}-${parentId}-01`, 'x']) {
      const trace = tracer.begin(parent, () => state)!
      trace.part('book', 0)
      trace.end('POST /v1/systemone', 0, {}, false)
    }
    const traceStates = spans.map(({ traceState }) => traceState)
    t.strictSame(traceStates, [kept, kept, '', ''])
  },
)

function tracing(samplePercent = 100) {
  const spans: Span[] = []
  return { spans, tracer: new Tracer({ add: (span) => spans.push(span), samplePercent }) }
}

t.test('the caller decides whether its request is traced; of others, a share is', async (t) => {
  const { tracer } = tracing(0)
  t.equal(tracer.begin(''), undefined)
  t.equal(tracer.begin(`00-${traceId}-${parentId}-01`)!.id, traceId)
  t.equal(tracing(100).tracer.begin(`00-${traceId}-${parentId}-00`), undefined)
  t.match(tracing(100).tracer.begin('')!.id, /^[0-9a-f]{32}$/)
  const half = tracing(50).tracer
  const begun = Array.from({ length: 2000 }, () => half.begin('')).filter(Boolean).length
  t.ok(begun > 800 && begun < 1200, `${begun} of 2000`)
})

t.test('the parts of a decision are consecutive, under their request', async (t) => {
  const { spans, tracer } = tracing()
  const trace = tracer.begin(`00-${traceId}-${parentId}-01`)!
  const startMs = performance.now()
  trace.decision(startMs, { tokenize: 1, queue: 2, vision: 0, model: 4 })
  trace.item(startMs, { tokenize: 1, queue: 1, vision: 1, model: 1 }, { 'oi.index': 3 })
  trace.end('POST /v1/systemone', startMs, { a: 1 }, true)
  const root = spans.at(-1)!
  t.match(root, { traceId, parentId, kind: 'server', failed: true, attributes: { a: 1 } })
  t.ok(Math.abs(root.startMs - Date.now()) < 2000, 'on the clock of the machine')
  const names = spans.slice(0, 3).map(({ name }) => name)
  t.strictSame(names, ['tokenize', 'queue', 'model'])
  for (const span of spans.slice(0, 3)) t.equal(span.parentId, root.spanId)
  const [tokenize, queue, model] = spans
  t.equal(queue!.startMs, tokenize!.endMs)
  t.equal(model!.startMs, queue!.endMs)
  t.ok(Math.abs(model!.endMs - root.startMs - 7) < 0.01)
  const item = spans.at(-2)!
  t.match(item, { name: 'item', parentId: root.spanId, attributes: { 'oi.index': 3 } })
  t.strictSame(
    spans.slice(3, -2).map((span) => [span.name, span.parentId]),
    ['tokenize', 'queue', 'vision', 'model'].map((name) => [name, item.spanId]),
  )
  t.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length)
})

const span = (name: string): Span => ({
  traceState: '',
  ...{ traceId, spanId: parentId, parentId: undefined, name, kind: 'internal', failed: false },
  ...{ startMs: 1_700_000_000_000.25, endMs: 1_700_000_000_001, attributes: {} },
})

t.test('spans are written in the JSON form of OTLP', async (t) => {
  const attributes = { text: 'x', whole: 3, part: 0.5, yes: true, none: undefined }
  t.strictSame(otlpRequest([{ ...span('a'), attributes, failed: true }], { r: 1 }), {
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'r', value: { intValue: '1' } }] },
        scopeSpans: [
          {
            scope: { name: 'oi' },
            spans: [
              {
                traceId,
                spanId: parentId,
                name: 'a',
                kind: 1,
                startTimeUnixNano: '1700000000000250000',
                endTimeUnixNano: '1700000000001000000',
                attributes: [
                  { key: 'text', value: { stringValue: 'x' } },
                  { key: 'whole', value: { intValue: '3' } },
                  { key: 'part', value: { doubleValue: 0.5 } },
                  { key: 'yes', value: { boolValue: true } },
                ],
                status: { code: 2 },
              },
            ],
          },
        ],
      },
    ],
  })
})

interface Message {
  resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[]
}

const namesIn = (body: string) =>
  (JSON.parse(body) as Message).resourceSpans[0]!.scopeSpans[0]!.spans.map(({ name }) => name)

/** An exporter whose collector answers as told. */
async function withCollector(
  answer: Answering,
  use: (exporter: Exporter, received: readonly { body: string }[], said: string[]) => Promise<void>,
  more: { mostSpans?: number; headers?: string } = {},
): Promise<void> {
  await withHttpServer(answer, async ({ url, received }) => {
    const said: string[] = []
    const notice = (text: string) => said.push(text)
    const exporter = new Exporter({ endpoint: `${url}/`, notice, pauseMs: 20, ...more })
    await use(exporter, received, said)
  })
}

const statusOf =
  (...statuses: number[]): Answering =>
  (_request, response, count) => {
    response.writeHead(statuses[Math.min(count, statuses.length - 1)]!)
    response.end('{}')
  }

t.test('spans are sent together, with the configured headers, the last ones at the end', (t) =>
  withCollector(
    statusOf(200),
    async (exporter, received, said) => {
      for (let i = 0; i < 300; i++) exporter.add(span(String(i)))
      await exporter.close(60_000)
      const lengths = received.map(({ body }) => namesIn(body).length)
      t.strictSame(lengths, [256, 44])
      t.match(received[0], {
        method: 'POST',
        path: '/v1/traces',
        headers: { 'content-type': 'application/json', authorization: 'Bearer a=b', x: '1' },
      })
      t.match([exporter.sent, exporter.lost], [300, 0])
      t.strictSame(said, [])
    },
    { headers: 'Authorization=Bearer a=b,x=1' },
  ),
)

t.test('a busy collector gets the same message again, with one warning', (t) =>
  withCollector(statusOf(503, 429, 200), async (exporter, received, said) => {
    for (let i = 0; i < 256; i++) exporter.add(span(String(i)))
    await until(() => exporter.sent === 256)
    t.equal(received.length, 3)
    t.equal(received[2]!.body, received[0]!.body)
    t.match(said, [/cannot be sent to http.*\/v1\/traces: its status was 503/, /are sent again/])
    t.equal(exporter.lost, 0)
  }),
)

t.test('spans that a collector refuses are lost and counted', (t) =>
  withCollector(statusOf(400, 200), async (exporter, received, said) => {
    for (let i = 0; i < 256; i++) exporter.add(span('a'))
    await until(() => exporter.lost === 256)
    exporter.add(span('b'))
    await exporter.close(60_000)
    t.strictSame(namesIn(received.at(-1)!.body), ['b'])
    t.match([exporter.sent, exporter.lost], [1, 256])
    t.match(said[0], /its status was 400/)
  }),
)

t.test('without a collector, held spans are bounded, and the end does not wait', async (t) => {
  const said: string[] = []
  const endpoint = `http://127.0.0.1:${await vacantPort()}`
  const notice = (text: string) => said.push(text)
  const exporter = new Exporter({ endpoint, notice, mostSpans: 500, pauseMs: 20 })
  for (let i = 0; i < 2000; i++) exporter.add(span('a'))
  t.equal(exporter.lost, 1500)
  await until(() => said.length > 0)
  t.match(said, [/ECONNREFUSED/])
  await exporter.close(60_000)
  t.match([exporter.sent, exporter.lost], [0, 2000])
})

t.test('a collector that does not answer delays nothing, not even the end', (t) =>
  withCollector(
    () => {},
    async (exporter, received) => {
      for (let i = 0; i < 300; i++) exporter.add(span('a'))
      await until(() => received.length > 0)
      await sleep(20)
      t.equal(received.length, 1)
      const startMs = performance.now()
      await exporter.close(100)
      t.ok(performance.now() - startMs < 3000)
      t.equal(exporter.lost, 300)
    },
  ),
)
