/**
 * Traces of real requests, in a collector of the test.
 *
 * Needs the built addon.
 */
import t, { type Test } from 'tap'
import { batchPath, post } from '../helpers/asking.js'
import { withHttpServer } from '../helpers/http-server.js'
import { Served } from '../helpers/served.js'
import { until } from '../helpers/until.js'

interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly traceState?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
}

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parentId = 'b7ad6b7169203331'
const traceparent = `00-${traceId}-${parentId}-01`
const secretState = 'planted-state-7f3a'

async function withCollector(
  t: Test,
  use: (served: Served, spans: () => SentSpan[], text: () => string) => Promise<void>,
): Promise<void> {
  const collect = (_request: unknown, response: { end(text: string): void }) => response.end('{}')
  await withHttpServer(collect, async ({ url, received }) => {
    const args = ['--threads', '1', '--otlp-endpoint', url, '--log', 'requests']
    const served = await Served.start(t, { args })
    const text = () => received.map(({ body }) => body).join('\n')
    const spans = () =>
      received.flatMap(({ body }) => {
        const { resourceSpans } = JSON.parse(body) as {
          resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[]
        }
        return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
      })
    await use(served, spans, text)
  })
}

const attribute = ({ attributes }: SentSpan, wanted: string) =>
  Object.values(attributes.find(({ key }) => key === wanted)?.value ?? {})[0]

t.test('a request with a traceparent is part of that trace, with the times of its parts', (t) =>
  withCollector(t, async (served, spans, text) => {
    const { headers } = served
    const question = { wet: { type: 'noul', instructions: 'Is it wet?' } }
    const reply = await post(
      served,
      { state: secretState, questions: question },
      { traceparent, tracestate: 'rojo=1', 'x-request-id': 'find-me' },
    )
    t.equal(reply.status, 200)
    const { usage } = (await reply.json()) as { usage: { input_tokens: number } }
    await until(() => spans().some(({ kind }) => kind === 2))
    const found = spans()
    const root = found.find(({ kind }) => kind === 2)!
    t.match(root, { traceId, parentSpanId: parentId, name: 'POST /v1/systemone' })
    t.ok(found.every(({ traceState }) => traceState === 'rojo=1'))
    t.equal(attribute(root, 'oi.request_id'), 'find-me')
    t.equal(attribute(root, 'http.response.status_code'), '200')
    t.equal(attribute(root, 'http.route'), '/v1/systemone')
    t.equal(attribute(root, 'oi.model'), 'oi-small')
    t.equal(attribute(root, 'oi.input_tokens'), String(usage.input_tokens))
    const parts = found.filter(({ parentSpanId }) => parentSpanId === root.spanId)
    t.strictSame(parts.map(({ name }) => name).sort(), ['book', 'model', 'queue', 'tokenize'])
    const inside = (span: SentSpan) =>
      BigInt(span.startTimeUnixNano) >= BigInt(root.startTimeUnixNano) &&
      BigInt(span.endTimeUnixNano) <= BigInt(root.endTimeUnixNano)
    for (const part of parts) t.ok(inside(part), part.name)
    const [, model] = /model;dur=([\d.]+)/.exec(reply.headers.get('server-timing')!)!
    const { startTimeUnixNano, endTimeUnixNano } = parts.find(({ name }) => name === 'model')!
    const ms = Number(BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano)) / 1e6
    t.ok(Math.abs(ms - Number(model)) < 0.02, `${ms} and ${model} ms`)
    await served.logged(new RegExp(`"id":"find-me".*"trace":"${traceId}"`))
    t.notMatch(text(), secretState)
    t.notMatch(text(), headers['authorization']!.slice(7))
    t.ok((await metric(served, 'sent')) >= 5)
    t.equal(await metric(served, 'lost'), 0)
  }),
)

async function metric(served: Served, outcome: string): Promise<number> {
  const text = await (await fetch(served.server.url('/metrics'))).text()
  return Number(
    new RegExp(`^oi_trace_spans_total{outcome="${outcome}"} (\\d+)$`, 'm').exec(text)![1],
  )
}

t.test('an unsampled request has no trace; an item of a batch has a span', (t) =>
  withCollector(t, async (served, spans) => {
    const ask = (path: string, body: object, sampled: string) =>
      post(served, body, { traceparent: traceparent.replace(/01$/, sampled) }, path)
    const questions = { wet: { type: 'noul', instructions: 'Is it wet?' } }
    t.equal((await ask('/v1/systemone', { state: 'x', questions }, '00')).status, 200)
    const batch = { states: ['a', 'b', 'c'], questions }
    t.equal((await ask(batchPath, batch, '01')).status, 200)
    t.equal((await ask('/v1/systemone', { state: 'x' }, '01')).status, 422)
    await until(() => spans().filter(({ kind }) => kind === 2).length === 2)
    const roots = spans().filter(({ kind }) => kind === 2)
    const names = roots.map(({ name }) => name)
    t.strictSame(names, [`POST ${batchPath}`, 'POST /v1/systemone'])
    t.equal(attribute(roots[1]!, 'error.type'), 'invalid_request')
    const items = spans().filter(({ name }) => name === 'item')
    t.strictSame(items.map((item) => attribute(item, 'oi.index')).sort(), ['0', '1', '2'])
    for (const item of items) {
      const parts = spans().filter(({ parentSpanId }) => parentSpanId === item.spanId)
      t.strictSame(parts.map(({ name }) => name).sort(), ['model', 'queue', 'tokenize'])
    }
  }),
)
