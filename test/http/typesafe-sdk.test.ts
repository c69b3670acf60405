/**
 * The npm package `@typesafe-ai/sdk`, unmodified, and the server over an engine without a model:
 * all functions of the package, and all refusals of the server.
 */
import t from 'tap'
import {
  APIConnectionError,
  APIError,
  APITimeoutError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  choice,
  InternalServerError,
  NotFoundError,
  noul,
  RateLimitError,
  score,
  TypeSafeClient,
  type TypeSafeClientConfig,
  TypeSafeError,
  UnprocessableEntityError,
} from '@typesafe-ai/sdk'
import {
  decision,
  refusing,
  Slow,
  stubDecider,
  type StubServer,
  withFake,
  withServer,
} from '../helpers/stub.js'
import { bestOfThree } from '../helpers/trials.js'
import { until } from '../helpers/until.js'

const once = { retry: { maxRetries: 0 } }
const connect = ({ url, key }: StubServer, more: TypeSafeClientConfig = {}) =>
  new TypeSafeClient({ baseURL: url, apiKey: key, ...more })
const asking = { state: 'I was charged twice.', questions: { q: noul('About a payment?') } }

const failureOf = async (call: PromiseLike<unknown>): Promise<APIError> =>
  (await call.then(
    () => undefined,
    (error: unknown) => error,
  )) as APIError

t.test('it asks questions of all types, about states of all types', (t) =>
  withFake({}, async (server) => {
    const client = connect(server)
    for (const state of ['text', { message: 'text', attempts: 2 }, ['a', { b: null }], '']) {
      const { model, answers, usage } = await client.systemOne({
        state,
        questions: {
          refund: noul('Is a refund wanted?', { true: 'money back', false: null }),
          plain: noul({ task: 'judge', steps: [1, 2] }),
          team: choice('Which team?', { billing: 'payments', support: null, 7: ['seven'] }),
          only: choice(null, { one: null }),
          mood: score(['How', 'angry?'], ['calm', { level: 'cross' }, ['x']]),
        },
      })
      const { refund, plain, team, only, mood } = answers
      t.equal(model, 'fake')
      for (const { noul } of [refund, plain]) t.ok(noul > 0 && noul < 1)
      t.ok(['billing', 'support', '7'].includes(String(team.choice)))
      t.strictSame(Object.keys(team.probabilities).sort(), ['7', 'billing', 'support'])
      const sum = Object.values(team.probabilities).reduce((a, b) => a + b, 0)
      t.ok(Math.abs(sum - 1) < 1e-9)
      t.match(only, { choice: 'one', confidence: 1, probabilities: { one: 1 } })
      t.ok(mood.score > 0 && mood.score < 2)
      t.strictSame(mood.legend, { 0: 'calm', 1: { level: 'cross' }, 2: ['x'] })
      t.ok(usage.input_tokens > 0 && usage.output_tokens > 0)
    }
  }),
)

t.test('it lists the models, and its own name for the default is among them', (t) =>
  withFake({}, async (server) => {
    const client = connect(server)
    t.match(await client.models.list(), [
      { name: 'fake', description: String, release_date: '2025-01-02' },
    ])
    for (const model of ['jev-latest', 'latest', 'default', 'fake']) {
      const named = connect(server, { defaultModel: model })
      t.equal((await named.systemOne(asking)).model, 'fake')
    }
    t.equal((await client.systemOne({ ...asking, model: 'jev-preview' })).model, 'fake')
  }),
)

t.test('it finds the request’s id in every reply, or its own if it sends one', (t) =>
  withFake({}, async (server) => {
    const client = connect(server, { defaultHeaders: { 'x-request-id': 'all' } })
    const { data, response, requestId } = await client.systemOne(asking).withResponse()
    t.equal(requestId, 'all')
    t.equal(data.model, 'fake')
    t.match(response.headers.get('server-timing'), /model;dur=/)
    const headers = { 'x-request-id': 'mine' }
    t.equal((await client.models.list({ headers }).withResponse()).requestId, 'mine')
    t.match(await failureOf(client.systemOne({ ...asking, model: 'x' }, { headers })), {
      requestId: 'mine',
    })
    const raw = await client.systemOne(asking).asResponse()
    t.match(await raw.json(), { model: 'fake', latency_ms: Number })
  }),
)

t.test('its environment alone configures it', (t) =>
  withFake({}, async ({ url, key }) => {
    process.env['TYPESAFE_API_KEY'] = key
    process.env['TYPESAFE_BASE_URL'] = `${url}/`
    t.teardown(() => {
      delete process.env['TYPESAFE_API_KEY']
      delete process.env['TYPESAFE_BASE_URL']
    })
    t.equal((await new TypeSafeClient().systemOne(asking)).model, 'fake')
  }),
)

t.test('it maps mistakes in a request to its error classes', (t) =>
  withFake({}, async (server) => {
    const client = connect(server)
    const empty = client.systemOne({ state: 's', questions: { q: choice('Which?', {}) } })
    const unprocessable = await failureOf(empty)
    t.type(unprocessable, UnprocessableEntityError)
    t.match(unprocessable, {
      status: 422,
      message: '422 questions.q.criteria: expected 1 to 255 options, got 0',
      requestId: /^req_[0-9a-f]{32}$/,
      body: { error: { code: 'invalid_request', param: 'questions.q.criteria' } },
    })
    const nothing = await failureOf(client.systemOne({ state: 's', questions: { q: noul() } }))
    t.type(nothing, UnprocessableEntityError)
    t.type(await failureOf(client.systemOne({ ...asking, model: 'no' })), BadRequestError)
    const stranger = connect(server, { apiKey: 'oi-wrong' })
    t.type(await failureOf(stranger.systemOne(asking)), AuthenticationError)
    t.type(await failureOf(stranger.models.list()), AuthenticationError)
    const elsewhere = connect(server, { baseURL: `${server.url}/x` })
    t.type(await failureOf(elsewhere.systemOne(asking)), NotFoundError)
    // The package itself refuses this.
    await t.rejects(async () => client.systemOne({ state: 's', questions: {} }), TypeSafeError)
    t.equal(server.log.length, 6)
  }),
)

for (const [code, kind, status] of [
  ['ERR_BALANCE', APIError, 402],
  ['ERR_BODY_TOO_LARGE', APIError, 413],
  ['ERR_METHOD_NOT_ALLOWED', APIError, 405],
  ['ERR_RATE_LIMIT', RateLimitError, 429],
  ['ERR_CONCURRENCY', RateLimitError, 429],
  ['ERR_OVERLOADED', InternalServerError, 503],
  ['ERR_TIMEOUT', InternalServerError, 504],
  ['ERR_ENGINE_INTERNAL', InternalServerError, 500],
] as const) {
  t.test(`it knows ${code} as ${kind.name}`, (t) =>
    withServer({ admission: refusing(code) }, async (server) => {
      const error = await failureOf(connect(server, once).systemOne(asking))
      t.equal(error.constructor, kind)
      t.match(error, { status, requestId: /^req_/, body: { detail: String } })
    }),
  )
}

t.test('it reads how long a limit lasts', (t) =>
  withServer({ admission: refusing('ERR_RATE_LIMIT', 1234) }, async (server) => {
    const error = await failureOf(connect(server, once).systemOne(asking))
    const { retryAfterMs } = error as { retryAfterMs?: number }
    t.equal(retryAfterMs, Number(error.headers.get('retry-after-ms')))
    t.ok(retryAfterMs! >= 1234 && retryAfterMs! <= 1234 * 1.5 + 1, `${retryAfterMs} ms`)
    t.equal(error.headers.get('retry-after'), '2')
  }),
)

for (const code of ['ERR_RATE_LIMIT', 'ERR_CONCURRENCY', 'ERR_OVERLOADED'] as const) {
  t.test(`it waits out ${code} for the server's time, no longer, and gets an answer`, async (t) => {
    // Not for the other header's whole seconds: the best of three, as a machine may be busy.
    const wrong = await bestOfThree(async () => {
      let waitedMs = NaN
      await withServer({ admission: refusing(code, 70, 2) }, async (server) => {
        const startMs = performance.now()
        t.match(await connect(server).systemOne(asking), { model: 'stub' })
        waitedMs = performance.now() - startMs
        t.ok(waitedMs >= 138, `${waitedMs} ms`)
        t.equal(server.log.length, 3)
      })
      return waitedMs < 900 ? undefined : `${waitedMs} ms`
    })
    t.strictSame(wrong, [])
  })
}

t.test('it gives up after its own number of attempts', (t) =>
  withServer({ admission: refusing('ERR_OVERLOADED', 1) }, async (server) => {
    const client = connect(server, { retry: { maxRetries: 4 } })
    t.type(await failureOf(client.systemOne(asking)), InternalServerError)
    t.equal(server.log.length, 5)
    t.type(await failureOf(client.systemOne(asking, once)), InternalServerError)
    t.equal(server.log.length, 6)
  }),
)

t.test('it gets an answer after a fault of the model', async (t) => {
  let asked = 0
  const faulty = stubDecider(async () => {
    if (asked++ === 0) throw new Error('broken')
    return decision
  })
  await withServer({ decider: faulty }, async (server) => {
    const client = connect(server, { retry: { backoffInitialMs: 1 } })
    t.match(await client.systemOne(asking), { model: 'stub' })
    t.equal(asked, 2)
  })
})

t.test('its timeout and its abort stop the work of the server', async (t) => {
  const slow = new Slow()
  await withServer({ decider: stubDecider(slow.decide) }, async (server) => {
    const late = await failureOf(connect(server, once).systemOne(asking, { timeout: 400 }))
    t.type(late, APITimeoutError)
    t.match(late, { timeoutMs: 400 })
    await until(() => slow.signals.every(({ aborted }) => aborted))

    const begun = slow.signals.length
    const controller = new AbortController()
    const call = failureOf(connect(server).systemOne(asking, { signal: controller.signal }))
    await until(() => slow.signals.length !== begun)
    controller.abort()
    t.type(await call, APIUserAbortError)
    await until(() => slow.signals[begun]!.aborted)
    t.equal(slow.signals.length, begun + 1)
  })
})

t.test('a server that has gone is a failed connection', async (t) => {
  let client: TypeSafeClient | undefined
  await withFake({}, async (server) => {
    client = connect(server, once)
    await client.models.list()
  })
  const error = await failureOf(client!.systemOne(asking))
  t.equal(error.constructor, APIConnectionError)
})
