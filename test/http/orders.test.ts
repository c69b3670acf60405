/** Averaged orders from the header, the model's setting and the client to the answer. */
import t from 'tap'
import { createClient } from 'oi-systemone/client'
import { createWire } from '../../src/server/create-wire.js'
import { readConfig } from '../../src/config.js'
import { createDecider } from '../../src/decide/decide.js'
import type { DecideOptions, Orders } from '../../src/decide/types.js'
import { batchPath, linesType, postBatch, readLines, replyOf } from '../helpers/batch.js'
import { createFakeEngine } from '../helpers/fake-engine.js'
import { decision, stubDecider, type StubServer, withServer } from '../helpers/stub.js'

const facts = { fileName: 'fake.gguf', digest: 'sha256:0', releaseDate: '2025-01-02' }
const wire = createWire(readConfig({}))
const decidePath = '/v1/systemone'

interface Answered {
  readonly evidence?: { readonly order_spread?: number }
}

const asking = (...names: string[]) => ({
  state: 'It rains.',
  questions: {
    q: { type: 'choice', criteria: Object.fromEntries(names.map((name) => [name, ''])) } as const,
  },
})

/** A server whose model has `orders` as its default. */
async function withModel(orders: Orders | undefined, use: (server: StubServer) => Promise<void>) {
  const decider = await createDecider(createFakeEngine(), { ...facts, orders })
  await withServer({ decider, wire }, use)
}

const post = ({ url, key }: StubServer, body: object, orders?: string, path = decidePath) =>
  fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-oi-evidence': '1',
      ...(orders !== undefined && { 'x-oi-orders': orders }),
    },
    body: JSON.stringify(body),
  })

async function answerOf(server: StubServer, names: readonly string[], orders?: string) {
  const reply = await post(server, asking(...names), orders)
  const { answers } = (await reply.json()) as { answers: { q: Answered } }
  return answers.q
}

t.test('the header applies to the request, and to every item of a batch', async (t) => {
  const given: unknown[] = []
  const decider = stubDecider(async (_request, options?: DecideOptions) => {
    given.push(options?.orders)
    return decision
  })
  await withServer({ decider }, async (server) => {
    for (const orders of ['1', '2', 'all', '', undefined]) {
      t.equal((await post(server, asking('a'), orders)).status, 200)
    }
    const requests = [asking('a'), asking('b')]
    await postBatch(server, { requests }, { 'x-oi-orders': 'all' })
    await postBatch(server, { requests }, { 'x-oi-orders': '2', accept: linesType })
  })
  t.strictSame(given, [1, 2, 'all', undefined, undefined, 'all', 'all', 2, 2])
})

t.test('any other header value is refused with its name, of a batch as a whole', async (t) => {
  const decider = stubDecider(async () => t.fail('nothing may be decided') as never)
  await withServer({ decider }, async (server) => {
    for (const [path, body] of [
      [decidePath, asking('a')],
      [batchPath, { requests: [asking('a')] }],
    ] as const) {
      for (const orders of ['0', '3', '-1', '1.0', 'ALL', 'both', '1, 2', 'x'.repeat(2000)]) {
        const reply = await post(server, body, orders, path)
        t.equal(reply.status, 400, orders)
        const { error } = (await reply.json()) as { error: Record<string, string> }
        t.match(error, { code: 'invalid_request', param: 'x-oi-orders' })
        t.match(error['message'], /^x-oi-orders: expected 1, 2 or all, got ".{1,40}"$/)
      }
    }
  })
})

t.test('every form of a reply has the spread in its evidence', (t) =>
  withModel(undefined, async (server) => {
    const batch = { requests: [asking('a', 'b'), asking('b', 'c')] }
    const headers = { 'x-oi-evidence': '1', 'x-oi-orders': '2' }
    const whole = (await replyOf(await postBatch(server, batch, headers))).results
    const lines = await postBatch(server, batch, { ...headers, accept: linesType })
    for (const { answers } of [...whole, ...readLines(await lines.text()).results]) {
      t.match((answers!['q'] as Answered).evidence, { order_spread: Number, label_mass: Number })
    }
    const silent = await postBatch(server, batch, { 'x-oi-orders': '2' })
    t.notMatch(await silent.text(), 'evidence')
  }),
)

t.test('a model has its own orders, which a request overrides', (t) =>
  withModel(2, async (server) => {
    const names = ['a', 'b', 'c']
    t.type((await answerOf(server, names)).evidence!.order_spread, 'number')
    t.strictSame(await answerOf(server, names), await answerOf(server, names, '2'))
    t.notOk('order_spread' in (await answerOf(server, names, '1')).evidence!)
  }),
)

t.test('too many orders are refused with the place, in a batch for one item alone', (t) =>
  withModel(undefined, async (server) => {
    const options = Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`o${i}`, null]))
    const question = { type: 'choice', criteria: options }
    const large = { state: 1, questions: { a: question, b: question, c: question } }
    const place = 'questions.c.criteria'
    const reply = await post(server, large, 'all')
    t.equal(reply.status, 400)
    t.match(await reply.json(), {
      error: { code: 'invalid_request', param: place, message: /at most 512 orders .* got 765/ },
    })
    const batch = { requests: [asking('a', 'b'), large] }
    const { results } = await replyOf(await postBatch(server, batch, { 'x-oi-orders': 'all' }))
    t.match(results, [{ status: 200 }, { status: 400, error: { param: `requests[1].${place}` } }])
  }),
)

t.test('the client asks in orders, in single requests and batches', (t) =>
  withModel(undefined, async ({ url, key }) => {
    const client = createClient({ baseUrl: url, apiKey: key })
    const request = asking('a', 'b', 'c')
    const options = { evidence: true, orders: 2 } as const
    const { answers } = await client.decide(request, options)
    t.type(answers.q.evidence!.order_spread, 'number')
    const { results } = await client.batch([request], options)
    t.strictSame(results[0].answers, answers)
    for await (const item of client.stream([request], options)) t.strictSame(item.answers, answers)
    const once = await client.decide(request, { evidence: true })
    t.notOk('order_spread' in once.answers.q.evidence!)
  }),
)
