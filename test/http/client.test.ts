/** `oi-systemone/client`, by its public name, and the server over an engine without a model. */
import t from 'tap'
import { createClient, OiRequestError } from 'oi-systemone/client'
import {
  decision,
  refusing,
  Slow,
  stubDecider,
  type StubServer,
  withFake,
  withServer,
} from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const connect = ({ url, key }: StubServer) => createClient({ baseUrl: url, apiKey: key })
const asking = {
  state: 'It rains.',
  questions: { q: { type: 'noul', instructions: 'Wet?' } },
} as const

/** The error of a refused call. */
async function errorOf(call: Promise<unknown>): Promise<OiRequestError> {
  const error: unknown = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (error instanceof OiRequestError) return error
  throw new Error('expected an OiRequestError', { cause: error })
}

t.test(
  'a client with affinity names the state of each single request, and of nothing else',
  async (t) => {
    const seen: (string | null)[] = []
    const fetch = async (_url: string, { headers }: RequestInit) => {
      seen.push(new Headers(headers).get('x-oi-affinity'))
      return Response.json({ ...decision, models: [], results: [] })
    }
    const options = { baseUrl: 'http://localhost:1', apiKey: 'oi-key', fetch }
    const client = createClient({ ...options, affinity: true })
    const { questions } = asking
    const long = 'a'.repeat(1100)
    for (const state of ['foobar', 'foobar', { a: 1 }, long, `${long}b`, `b${long}`]) {
      await client.decide({ state, questions })
    }
    await client.batch([asking])
    await client.models()
    await createClient(options).decide(asking)
    const named = createClient({ ...options, affinity: true, headers: { 'x-oi-affinity': 'mine' } })
    await named.decide(asking)
    // FNV-1a, 32 bits, of the state as JSON: of "foobar" with its quotes, from its definition.
    let hash = 0x811c9dc5n
    for (const byte of Buffer.from('"foobar"'))
      hash = ((hash ^ BigInt(byte)) * 0x01000193n) % 2n ** 32n
    const digest = hash.toString(16).padStart(8, '0')
    t.strictSame(seen.slice(0, 2), [digest, digest])
    t.match(seen[2], /^[0-9a-f]{8}$/)
    t.equal(seen[3], seen[4], 'the beginning counts')
    t.equal(new Set(seen.slice(1, 4)).size, 3)
    t.not(seen[3], seen[5])
    t.strictSame(seen.slice(6), [null, null, null, 'mine'])
  },
)

t.test('every answer has the type of its question', (t) =>
  withFake({}, async (server) => {
    const { model, answers, usage, latency_ms, requestId } = await connect(server).decide({
      state: { message: 'I was charged twice.', attempts: 2 },
      questions: {
        refund: { type: 'noul', instructions: 'Is a refund wanted?', criteria: { true: 'money' } },
        team: { type: 'choice', criteria: { billing: 'payments', support: null, 7: 'seven' } },
        mood: { type: 'score', criteria: ['calm', { level: 'cross' }, 'furious'] },
      },
    })
    // The annotations are half of the test: the compiler checks them.
    const yes: number = answers.refund.noul
    const team: 'billing' | 'support' | '7' = answers.team.choice
    const billing: number = answers.team.probabilities.billing
    const score: number = answers.mood.score
    // @ts-expect-error A noul has no choice.
    t.equal(answers.refund.choice, undefined)
    // @ts-expect-error Nobody asked that.
    t.equal(answers.elsewhere, undefined)
    t.ok(yes > 0 && yes < 1)
    t.ok(['billing', 'support', '7'].includes(team))
    t.ok(billing > 0 && billing < 1)
    t.ok(score > 0 && score < 2)
    t.strictSame(answers.mood.legend, { 0: 'calm', 1: { level: 'cross' }, 2: 'furious' })
    t.equal(model, 'fake')
    t.ok(usage.input_tokens > 0 && usage.output_tokens > 0)
    t.type(latency_ms, 'number')
    t.match(requestId, /^req_[0-9a-f]{32}$/)
  }),
)

t.test('questions of an unknown type have answers of any type', (t) =>
  withFake({}, async (server) => {
    const name = '__proto__'
    const questions: Record<string, { type: 'noul'; instructions: string }> = JSON.parse(
      `{"${name}":{"type":"noul","instructions":"Wet?"},"7":{"type":"noul","instructions":"No?"}}`,
    )
    const { answers } = await connect(server).decide({ state: 1, questions })
    t.strictSame(Object.keys(answers), ['7', name])
    t.equal(Object.getOwnPropertyDescriptor(answers, name)?.value.type, 'noul')
  }),
)

t.test('the address may end with a slash or /v1', (t) =>
  withFake({}, async ({ url, key }) => {
    for (const end of ['', '/', '/v1', '/v1/']) {
      const client = createClient({ baseUrl: `${url}${end}`, apiKey: key })
      t.match(await client.models(), [{ name: 'fake', default: true, modalities: ['text'] }])
    }
  }),
)

t.test('evidence is on request, and the id is the caller’s', (t) =>
  withFake({}, async (server) => {
    const client = connect(server)
    const { answers, requestId } = await client.decide(asking, {
      evidence: true,
      requestId: 'mine',
    })
    t.equal(requestId, 'mine')
    t.ok(Math.abs(answers.q.evidence!.label_mass - 0.5) < 1e-6)
    t.equal((await client.decide(asking)).answers.q.evidence, undefined)
  }),
)

t.test('texts keep the order of names that JavaScript would move', (t) =>
  withFake({}, async (server) => {
    const criteria = '{"9":null,"b":null,"1":null}'
    const body = `{"state":1.0,"questions":{"q":{"type":"choice","criteria":${criteria}}}}`
    const text = await connect(server).decideText(body)
    t.match(text, /"probabilities":\{"9":[\d.e-]+,"b":[\d.e-]+,"1":[\d.e-]+\}/)
  }),
)

t.test('a refusal is an error with its place, and is not retried', (t) =>
  withFake({}, async (server) => {
    const client = connect(server)
    const questions = { team: { type: 'choice', criteria: {} } } as const
    t.match(await errorOf(client.decide({ state: 1, questions }, { requestId: 'a' })), {
      name: 'OiRequestError',
      code: 'invalid_request',
      status: 422,
      message: 'questions.team.criteria: expected 1 to 255 options, got 0',
      param: 'questions.team.criteria',
      requestId: 'a',
      retryAfterMs: undefined,
    })
    t.match(await errorOf(client.decide({ ...asking, model: 'nope' })), {
      code: 'invalid_request',
      status: 400,
      param: 'model',
    })
    t.match(await errorOf(client.decideText('{')), { status: 422, code: 'invalid_request' })
    const stranger = createClient({ baseUrl: server.url, apiKey: 'oi-wrong' })
    t.match(await errorOf(stranger.models()), { status: 401, code: 'invalid_api_key' })
    const elsewhere = createClient({ baseUrl: `${server.url}/x`, apiKey: server.key })
    t.match(await errorOf(elsewhere.decide(asking)), { status: 404, code: 'not_found' })
    t.equal(server.log.length, 5)
  }),
)

for (const code of ['ERR_RATE_LIMIT', 'ERR_CONCURRENCY', 'ERR_OVERLOADED'] as const) {
  t.test(`${code} is retried after the server's wait`, async (t) => {
    const startMs = performance.now()
    await withServer({ admission: refusing(code, 60, 2) }, async (server) => {
      t.match(await connect(server).decide(asking), {
        model: 'stub',
        answers: { q: { noul: 0.75 } },
      })
      t.equal(server.log.length, 3)
    })
    t.ok(performance.now() - startMs >= 118)
  })
}

for (const [code, status, wireCode, tries] of [
  ['ERR_RATE_LIMIT', 429, 'rate_limit_exceeded', 3],
  ['ERR_CONCURRENCY', 429, 'concurrency_limit_exceeded', 3],
  ['ERR_OVERLOADED', 503, 'overloaded', 3],
  ['ERR_BALANCE', 402, 'insufficient_balance', 1],
  ['ERR_BODY_TOO_LARGE', 413, 'payload_too_large', 1],
] as const) {
  t.test(`${code} that stays is an error after ${tries} attempts`, async (t) => {
    await withServer({ admission: refusing(code, 1) }, async (server) => {
      const error = await errorOf(connect(server).decide(asking))
      t.match(error, { status, code: wireCode, message: 'no more' })
      const waitMs = (error as { retryAfterMs?: number }).retryAfterMs
      t.ok(status === 413 || status === 402 || waitMs === 1 || waitMs === 2, `${waitMs} ms`)
      t.match(error.requestId, /^req_/)
      t.equal(server.log.length, tries)
    })
  })
}

t.test('a fault of the server is retried, and no more often than the limit', async (t) => {
  let asked = 0
  const broken = stubDecider(async () => {
    asked++
    throw new Error('secret')
  })
  await withServer({ decider: broken }, async ({ url, key }) => {
    const client = createClient({ baseUrl: url, apiKey: key, maxRetries: 1 })
    const error = await errorOf(client.decide(asking))
    t.match(error, { status: 500, code: 'internal_error' })
    t.notMatch(error.message, /secret/)
    t.equal(asked, 2)
    await errorOf(createClient({ baseUrl: url, apiKey: key, maxRetries: 0 }).decide(asking))
    t.equal(asked, 3)
  })
})

t.test('an aborted call ends at once, and so does the work of the server', async (t) => {
  const slow = new Slow()
  await withServer({ decider: stubDecider(slow.decide) }, async (server) => {
    const controller = new AbortController()
    const { signal } = controller
    const call = errorOf(connect(server).decide(asking, { signal, requestId: 'mine' }))
    await until(() => slow.signals.length !== 0)
    controller.abort(new Error('enough'))
    t.match(await call, {
      code: 'request_aborted',
      status: undefined,
      requestId: 'mine',
      cause: { message: 'enough' },
    })
    await until(() => slow.signals[0]!.aborted)
    t.equal(slow.signals.length, 1, 'it was not tried again')
    t.match(await errorOf(connect(server).decide(asking, { signal })), { code: 'request_aborted' })
    t.equal(slow.signals.length, 1, 'nothing was sent')
  })
})

t.test('an attempt that takes too long ends the work of the server, and is retried', (t) => {
  const signals: { readonly aborted: boolean }[] = []
  const decide = stubDecider((_request, options) => {
    signals.push(options!.signal!)
    return signals.length === 1 ? new Promise(() => {}) : Promise.resolve(decision)
  })
  return withServer({ decider: decide }, async (server) => {
    const { model } = await connect(server).decide(asking, { timeoutMs: 4000 })
    t.equal(model, 'stub')
    t.equal(signals.length, 2)
    await until(() => signals[0]!.aborted)
  })
})

t.test('an unsendable value is not a network failure', (t) =>
  withFake({}, async (server) => {
    const client = connect(server)
    await t.rejects(client.decide(asking, { requestId: 'a\nb' }), TypeError)
    await t.rejects(client.decide(asking, { timeoutMs: 0 }), TypeError)
    await t.rejects(client.decide({ ...asking, state: { big: 1n } }), TypeError)
    t.equal(server.log.length, 0)
  }),
)
