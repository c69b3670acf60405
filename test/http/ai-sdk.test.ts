/**
 * The npm package `@ai-sdk/typesafe-ai`, unmodified, and the server over an engine without a model.
 * The package asks for Node 22: with an older Node it is tried, and skipped if it fails.
 */
import t from 'tap'
import type * as AiSdk from '@ai-sdk/typesafe-ai'
import {
  refusing,
  Slow,
  stubDecider,
  type StubServer,
  withFake,
  withServer,
} from '../helpers/stub.js'
import { until } from '../helpers/until.js'

type Package = typeof AiSdk

const [major] = process.versions.node.split('.')
const supported = Number(major) >= 22

let loaded: Package | undefined
try {
  loaded = await import('@ai-sdk/typesafe-ai')
} catch (error) {
  if (supported) throw error
}
const skip =
  loaded === undefined && `@ai-sdk/typesafe-ai needs Node 22, this is ${process.versions.node}`

type Asked = Parameters<ReturnType<Package['typeSafeAi']['evaluationModel']>['doEvaluate']>[0]
const evaluate = async ({ url, key }: StubServer, asked: Asked, name = 'jev-latest') => {
  const provider = loaded!.createTypeSafeAi({ baseURL: `${url}/v1`, apiKey: key })
  return provider.evaluationModel(name).doEvaluate(asked)
}
const asking = {
  state: 'I was charged twice.',
  questions: { q: { type: 'boolean', instructions: 'About a payment?' } },
} as const

t.test('it asks questions of all types', { skip }, (t) =>
  withFake({}, async (server) => {
    const { answers, usage, response, warnings, providerMetadata } = await evaluate(server, {
      state: { message: 'I was charged twice.', attempts: 2 },
      questions: {
        refund: {
          type: 'boolean',
          instructions: 'Refund?',
          criteria: { true: 'yes', false: null },
        },
        team: { type: 'choice', instructions: 'Which?', criteria: { billing: 'a', support: null } },
        mood: { type: 'score', instructions: 'How?', criteria: ['calm', { level: 'x' }, ['x']] },
      },
      headers: { 'x-request-id': 'mine' },
    })
    const { refund, team, mood } = answers
    t.ok(refund?.type === 'boolean' && refund.probability > 0 && refund.probability < 1)
    t.match(team, { type: 'choice', choice: /^(?:billing|support)$/ })
    t.ok(mood?.type === 'score' && mood.score > 0 && mood.score < 2)
    for (const answer of [team, mood]) {
      const { probabilities } = answer as { probabilities: Record<string, number> }
      const sum = Object.values(probabilities).reduce((a, b) => a + b, 0)
      t.ok(Math.abs(sum - 1) < 1e-9)
    }
    t.ok(usage!.inputTokens! > 0 && usage!.outputTokens! > 0)
    t.match(response, { modelId: 'fake', headers: { 'x-request-id': 'mine' } })
    t.strictSame(warnings, [])
    t.match(providerMetadata, { typesafe: { confidence: { team: Number, mood: Number } } })
  }),
)

t.test('its base address may end with a slash', { skip }, (t) =>
  withFake({}, async ({ url, key }) => {
    const provider = loaded!.createTypeSafeAi({ baseURL: `${url}/v1/`, apiKey: key })
    t.match(await provider.evaluationModel('fake').doEvaluate(asking), {
      response: { modelId: 'fake' },
    })
  }),
)

t.test('it recognises refusals, and whether to retry', { skip }, (t) =>
  withFake({}, async (server) => {
    await t.rejects(evaluate({ ...server, key: 'oi-wrong' }, asking), {
      name: 'AI_APICallError',
      statusCode: 401,
      isRetryable: false,
      message: /Authorization/,
    })
    await t.rejects(evaluate(server, asking, 'nope'), {
      statusCode: 400,
      isRetryable: false,
      message: /^model: expected one of /,
    })
    const criteria = {}
    const questions = { q: { type: 'choice', instructions: 'Which?', criteria } } as const
    await t.rejects(evaluate(server, { state: 's', questions }), {
      statusCode: 422,
      isRetryable: false,
      message: 'questions.q.criteria: expected 1 to 255 options, got 0',
    })
  }),
)

for (const [code, statusCode] of [
  ['ERR_RATE_LIMIT', 429],
  ['ERR_CONCURRENCY', 429],
  ['ERR_OVERLOADED', 503],
] as const) {
  t.test(`${code} may be retried, and it passes on when`, { skip }, (t) =>
    withServer({ admission: refusing(code, 1500) }, async (server) => {
      await t.rejects(evaluate(server, asking), {
        name: 'AI_APICallError',
        statusCode,
        isRetryable: true,
        message: 'no more',
        // Half as long again at most, so that callers do not return together.
        responseHeaders: { 'retry-after': /^[23]$/, 'retry-after-ms': /^(?:1[5-9]|2[0-2])\d\d$/ },
      })
    }),
  )
}

t.test('its abort stops the work of the server', { skip }, async (t) => {
  const slow = new Slow()
  await withServer({ decider: stubDecider(slow.decide) }, async (server) => {
    const controller = new AbortController()
    const { signal: abortSignal } = controller
    const call = t.rejects(evaluate(server, { ...asking, abortSignal }), { name: 'AbortError' })
    await until(() => slow.signals.length !== 0)
    controller.abort()
    await call
    await until(() => slow.signals[0]!.aborted)
  })
})
