/** Whole requests on an engine without a model. */
import t from 'tap'
import { validators } from '../../src/api/schemas.js'
import { serializeDecision } from '../../src/decide/decide.js'
import type { ChoiceAnswer, NoulAnswer } from '../../src/decide/types.js'
import { fakeAsker, fakeDecider } from '../helpers/fake-engine.js'

const body = `{"state":"It rains.","questions":{
  "wet":{"type":"noul","instructions":"Is it wet?"},
  "10":{"type":"choice","criteria":{"z":null,"7":"seven","__proto__":"p","1":null}},
  "9":{"type":"score","instructions":"How much?","criteria":["none",1.0,{"b":1,"0":2}]},
  "__proto__":{"type":"choice","criteria":{"only":null}}}}`

t.test('the response body keeps names, order and literals', async (t) => {
  const { ask } = await fakeAsker()
  const text = serializeDecision(await ask(body))
  t.match(text, /^\{"model":"fake","answers":\{"wet":\{"type":"noul","noul":0\.\d+/)
  t.match(
    text,
    /"10":\{"type":"choice","choice":"[^"]+","probabilities":\{"z":[^,]+,"7":[^,]+,"__proto__":[^,]+,"1":/,
  )
  t.match(
    text,
    /"9":\{"type":"score","score":[^,]+,"probabilities":\{"0":[^,]+,"1":[^,]+,"2":[^,]+\}/,
  )
  t.match(text, '"legend":{"0":"none","1":"1.0","2":{"b":1,"0":2}}')
  t.match(
    text,
    '"__proto__":{"type":"choice","choice":"only","probabilities":{"only":1},"confidence":1}',
  )
  t.match(text, /"usage":\{"input_tokens":\d+,"output_tokens":\d+\},"latency_ms":1\.5\}$/)
  t.ok(validators.response.Check(JSON.parse(text)))
})

t.test('answers are ordinary objects', async (t) => {
  const { ask } = await fakeAsker()
  const { answers } = await ask(body)
  t.match(JSON.parse(JSON.stringify(answers)), { 9: { legend: { 0: 'none', 1: 1 } } })
})

t.test('the most likely label is the choice, the weight of yes the noul', async (t) => {
  const { ask } = await fakeAsker({
    logit: (_, token) => (token === 'B' || /^ ?yes$/i.test(token) ? 5 : -5),
  })
  const { answers } = await ask(body)
  t.equal((answers['10'] as ChoiceAnswer).choice, '7')
  t.ok((answers['wet'] as NoulAnswer).noul > 0.999)
})

t.test('usage counts prompt, answers and what came from the cache', async (t) => {
  const { ask, engine } = await fakeAsker()
  const decision = await ask(body)
  const { usage, cached_tokens } = decision
  const [, answers] = /"answers":(.*),"usage"/.exec(serializeDecision(decision))!
  t.equal(usage.output_tokens, await engine.countTokens(answers!))
  t.equal(cached_tokens, 0)
  const again = await ask(body, { evidence: true })
  t.ok(again.cached_tokens > 0 && again.cached_tokens < again.usage.input_tokens)
  t.equal(again.usage.input_tokens, usage.input_tokens)
  const { cached_tokens: cached } = again
  const evaluated = usage.input_tokens - cached
  t.ok(
    serializeDecision(again).endsWith(
      `,"evidence":{"cached_tokens":${cached},"evaluated_tokens":${evaluated}}}`,
    ),
  )
  t.notOk('evidence' in decision)
})

t.test('output tokens are never 0', async (t) => {
  const { ask, engine } = await fakeAsker()
  engine.countTokens = async () => 0
  t.equal((await ask(body)).usage.output_tokens, 1)
})

t.test('a model that is not the default does not answer to its names', async (t) => {
  const decider = await fakeDecider({ default: false })
  const request = { state: 1, questions: { q: { type: 'noul', instructions: '?' } as const } }
  await t.rejects(decider.decide({ ...request, model: 'latest' }), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'model',
  })
})

t.test('requests that the model cannot answer are refused', async (t) => {
  const { decider } = await fakeAsker({ isWord: (word) => word.length < 2 })
  const noul = { type: 'noul', instructions: '?' } as const
  const many = Object.fromEntries(Array.from({ length: 401 }, (_, i) => [`q${i}`, noul]))
  const unacceptable = { code: 'ERR_REQUEST_UNACCEPTABLE' }
  await t.rejects(decider.decide({ state: 1, questions: many }), {
    ...unacceptable,
    message: 'questions: expected 1 to 400 questions, got 401',
  })
  const criteria = new Array<string>(256).fill('x')
  await t.rejects(
    decider.decide({ state: 1, questions: { q: { type: 'score', criteria } } }),
    unacceptable,
  )
  // The letters are all its labels.
  t.equal(decider.limits.maxLevels, 26)
})

t.test("the engine's refusals are passed on", async (t) => {
  const narrow = await fakeAsker({ info: { contextTokens: 1000 } })
  const longState = body.replace('It rains.', 'rain '.repeat(2000))
  await t.rejects(narrow.ask(longState), {
    code: 'ERR_STATE_TOO_LONG',
    param: 'state',
    message: /^state: .*\d+ tokens, the limit is 1000$/,
  })
  // The longer of state and questions has to become shorter.
  const longOption = body.replace('seven', 'seven '.repeat(2000))
  await t.rejects(narrow.ask(longOption), {
    code: 'ERR_STATE_TOO_LONG',
    param: 'questions["10"]',
    message: /^questions\["10"\]: .*\d+ tokens, the limit is 1000$/,
  })

  const slow = await fakeAsker({ delayMs: 1000 })
  await t.rejects(slow.ask(body, { signal: AbortSignal.timeout(5) }), { code: 'ERR_ABORTED' })

  const busy = await fakeAsker({ delayMs: 20, maxQueued: 1 })
  const first = busy.ask(body)
  await t.rejects(busy.ask(body), { code: 'ERR_OVERLOADED' })
  await first

  await busy.engine.close()
  await t.rejects(busy.ask(body), { code: 'ERR_ENGINE_CLOSED' })
})

t.test('workspace, scope, remaining time, signal and id reach the engine', async (t) => {
  const { ask, engine } = await fakeAsker()
  const { score } = engine
  const given: unknown[] = []
  engine.score = (input, options) => {
    given.push(options)
    return score.call(engine, input, options)
  }
  const { signal } = new AbortController()
  const options = { workspace: 7, scope: 'w', deadlineMs: 1234, signal, requestId: 'req_1' }
  await ask(body, { ...options, evidence: true })
  t.strictSame(given, [options])
})

t.test('the card of a model', async (t) => {
  const { decider } = await fakeAsker()
  t.match(decider.card, {
    name: 'fake',
    description: 'fake 1M F32',
    default: true,
    readout: 'letters@1',
    limits: { max_options: 255, max_questions: 400, max_state_tokens: 8192 },
  })
})
