/**
 * The npm package `@openrouter/sdk`, unmodified, as far as it speaks this API: `systemOne`.
 */
import t from 'tap'
import { OpenRouter, type SDKOptions } from '@openrouter/sdk'
import { OpenRouterError } from '@openrouter/sdk/models/errors'
import { block, png } from '../helpers/pictures.js'
import {
  refusing,
  Slow,
  stubDecider,
  type StubServer,
  withFake,
  withServer,
} from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const never = { strategy: 'none' } as const

const connect = ({ url, key }: StubServer, more: SDKOptions = {}) =>
  new OpenRouter({ serverURL: `${url}/v1`, apiKey: key, retryConfig: never, ...more })
const asking = {
  model: 'jev-latest',
  state: 'I was charged twice.',
  questions: { q: { type: 'noul', instructions: 'About a payment?' } },
} as const

t.test('it asks questions of all types, about states of all types', (t) =>
  withFake({ vision: true }, async (server) => {
    const client = connect(server, { httpReferer: 'https://app.example', appTitle: 'App' })
    for (const state of ['text', { message: 'text', attempts: 2 }, ['a', { b: null }]]) {
      const { model, answers, usage } = await client.systemOne.create({
        decisionsRequest: {
          model: 'jev-latest',
          state,
          questions: {
            refund: {
              type: 'noul',
              instructions: 'Is a refund wanted?',
              criteria: { true: 'money back', false: { other: 'anything' } },
            },
            team: {
              type: 'choice',
              instructions: { task: 'Which team?' },
              criteria: { billing: 'payments', support: null, other: ['the', 'rest'] },
            },
            mood: { type: 'score', instructions: ['How?'], criteria: ['calm', { level: 'cross' }] },
          },
        },
      })
      t.equal(model, 'fake')
      const { refund, team, mood } = answers
      t.match(refund, { type: 'noul', noul: Number })
      t.match(team, { type: 'choice', choice: String, confidence: Number })
      t.match(mood, { type: 'score', score: Number, legend: { 0: 'calm', 1: { level: 'cross' } } })
      t.ok(usage.inputTokens > 0 && usage.outputTokens > 0)
    }
  }),
)

t.test('an image in its state is seen, and its additions to a request are not faults', (t) =>
  withFake({ vision: true }, async (server) => {
    const photo = block(await png(60, 30))
    const more = { sessionId: 's', user: 'u', trace: { traceName: 'n' }, provider: { zdr: true } }
    const ask = (state: object) =>
      connect(server).systemOne.create({ decisionsRequest: { ...asking, ...more, state } })
    const { answers: seen } = await ask({ photo })
    t.notSame(seen, (await ask({ photo: 'a picture' })).answers)
  }),
)

t.test('it reports refusals by status and text', (t) =>
  withFake({ vision: true }, async (server) => {
    const failure = async (client: OpenRouter, request: object): Promise<OpenRouterError> =>
      client.systemOne.create({ decisionsRequest: { ...asking, ...request } }).then(
        () => t.fail('it was answered') as never,
        (error: unknown) => error as OpenRouterError,
      )
    for (const [client, request, statusCode, code] of [
      [connect(server, { apiKey: 'oi-wrong' }), {}, 401, 'invalid_api_key'],
      [connect(server), { model: 'nope' }, 400, 'invalid_request'],
      [connect(server), { questions: {} }, 422, 'invalid_request'],
      [connect(server, { serverURL: `${server.url}/x` }), {}, 404, 'not_found'],
    ] as const) {
      const error = await failure(client, request)
      t.type(error, OpenRouterError)
      t.equal(error.statusCode, statusCode)
      t.match(JSON.parse(error.body), { error: { code, message: String } })
      t.match(error.headers.get('x-request-id'), /^req_[0-9a-f]{32}$/)
    }
  }),
)

t.test("it waits out an overload for the server's time", async (t) => {
  await withServer({ admission: refusing('ERR_OVERLOADED', 30, 2) }, async (server) => {
    const backoff = { initialInterval: 1, maxInterval: 10, exponent: 1, maxElapsedTime: 10_000 }
    const client = connect(server, { retryConfig: { strategy: 'backoff', backoff } })
    t.match(await client.systemOne.create({ decisionsRequest: asking }), { model: 'stub' })
    t.equal(server.log.length, 3)
  })
})

t.test('its timeout stops the work of the server', async (t) => {
  const slow = new Slow()
  await withServer({ decider: stubDecider(slow.decide) }, async (server) => {
    const call = connect(server, { timeoutMs: 300 }).systemOne.create({ decisionsRequest: asking })
    await t.rejects(call, { name: 'RequestTimeoutError' })
    await until(() => slow.signals.length === 1 && slow.signals[0]!.aborted)
  })
})
