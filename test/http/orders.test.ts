/** Averaged orders from the header, the model's setting and the client to the answer. */
import t from 'tap'
import { createClient } from 'oi-systemone/client'
import type { DecideOptions } from '../../src/decide/types.js'
import { batchPath, linesType, decidePath, post } from '../helpers/asking.js'
import { postBatch, readLines, replyOf } from '../helpers/batch.js'
import { decision, stubDecider, type StubServer, withServer, withFake } from '../helpers/stub.js'

interface Answered {
  readonly evidence?: { readonly order_spread?: number }
}

const asking = (...names: string[]) => ({
  state: 'It rains.',
  questions: {
    q: { type: 'choice', criteria: Object.fromEntries(names.map((name) => [name, ''])) } as const,
  },
})

const ask = (server: StubServer, body: object, orders?: string, path = decidePath) =>
  post(
    server,
    body,
    { 'x-oi-evidence': '1', ...(orders !== undefined && { 'x-oi-orders': orders }) },
    path,
  )

async function answerOf(server: StubServer, names: readonly string[], orders?: string) {
  const reply = await ask(server, asking(...names), orders)
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
      t.equal((await ask(server, asking('a'), orders)).status, 200)
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
        const reply = await ask(server, body, orders, path)
        t.equal(reply.status, 400, orders)
        const { error } = (await reply.json()) as { error: Record<string, string> }
        t.match(error, { code: 'invalid_request', param: 'x-oi-orders' })
        t.match(error['message'], /^x-oi-orders: expected 1, 2 or all, got ".{1,40}"$/)
      }
    }
  })
})

t.test('every form of a reply has the spread in its evidence', (t) =>
  withFake({}, async (server) => {
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
  withFake({ facts: { orders: 2 } }, async (server) => {
    const names = ['a', 'b', 'c']
    t.type((await answerOf(server, names)).evidence!.order_spread, 'number')
    t.strictSame(await answerOf(server, names), await answerOf(server, names, '2'))
    t.notOk('order_spread' in (await answerOf(server, names, '1')).evidence!)
  }),
)

t.test('too many orders are refused with the place, in a batch for one item alone', (t) =>
  withFake({}, async (server) => {
    const options = Object.fromEntries(Array.from({ length: 255 }, (_, i) => [`o${i}`, null]))
    const question = { type: 'choice', criteria: options }
    const large = { state: 1, questions: { a: question, b: question, c: question } }
    const place = 'questions.c.criteria'
    const reply = await ask(server, large, 'all')
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
  withFake({}, async ({ url, key }) => {
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
