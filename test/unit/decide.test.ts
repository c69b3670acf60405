/** Whole requests on an engine without a model. */
import t from 'tap'
import { keysOf } from '../../src/api/json.js'
import { readRequest } from '../../src/api/read-request.js'
import { validators } from '../../src/api/schemas.js'
import { createDecider, serializeDecision } from '../../src/decide/decide.js'
import { createModelCard, hasRandomWeights } from '../../src/decide/model-card.js'
import type { ChoiceAnswer, NoulAnswer } from '../../src/decide/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import { createFakeEngine } from '../helpers/fake-engine.js'
import type { FakeEngineOptions } from '../helpers/fake-engine.js'

const facts = {
  fileName: 'fake-1M.gguf',
  digest: `sha256:${'0'.repeat(64)}`,
  releaseDate: '2025-01-01',
  aliases: ['fake'],
}

const body = `{"state":"It rains.","questions":{
  "wet":{"type":"noul","instructions":"Is it wet?"},
  "10":{"type":"choice","criteria":{"z":null,"7":"seven","__proto__":"p","1":null}},
  "9":{"type":"score","instructions":"How much?","criteria":["none",1.0,{"b":1,"0":2}]},
  "__proto__":{"type":"choice","criteria":{"only":null}}}}`

async function decider(options: FakeEngineOptions = {}) {
  const engine = createFakeEngine(options)
  const created = await createDecider(engine, facts)
  return {
    engine,
    created,
    ask: (text: string, more = {}) => created.decide(readRequest(text, created.limits), more),
  }
}

t.test('every question is answered under its name, in the order of the text', async (t) => {
  const { ask } = await decider()
  const decision = await ask(body)
  t.strictSame(keysOf(decision.answers), ['wet', '10', '9', '__proto__'])
  const types = keysOf(decision.answers).map((name) => decision.answers[name]!.type)
  t.strictSame(types, ['noul', 'choice', 'score', 'choice'])
  t.equal(decision.model, 'fake-1M')
})

t.test('the response body keeps names, order and literals', async (t) => {
  const { ask } = await decider()
  const text = serializeDecision(await ask(body))
  t.match(text, /^\{"model":"fake-1M","answers":\{"wet":\{"type":"noul","noul":0\.\d+/)
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
  const { ask } = await decider()
  const { answers } = await ask(body)
  const choice = answers['10'] as ChoiceAnswer
  const sum = Object.values(choice.probabilities).reduce((a, b) => a + b, 0)
  t.ok(Math.abs(sum - 1) < 1e-9)
  t.equal((answers['wet'] as NoulAnswer).type, 'noul')
  t.match(JSON.parse(JSON.stringify(answers)), { 9: { legend: { 0: 'none', 1: 1 } } })
})

t.test('the same request has the same answers', async (t) => {
  const { ask } = await decider()
  const first = await ask(body)
  t.strictSame((await ask(body)).answers, first.answers)
})

t.test('neither names nor other questions nor their order move an answer', async (t) => {
  const { ask } = await decider()
  const wet = '{"type":"noul","instructions":"Is it wet?"}'
  const cold = '{"type":"noul","instructions":"Is it cold?"}'
  const alone = await ask(`{"state":"It rains.","questions":{"a":${wet}}}`)
  const among = await ask(`{"state":"It rains.","questions":{"x":${cold},"b":${wet}}}`)
  t.equal((among.answers['b'] as NoulAnswer).noul, (alone.answers['a'] as NoulAnswer).noul)
  t.not((among.answers['x'] as NoulAnswer).noul, (alone.answers['a'] as NoulAnswer).noul)
})

t.test('the most likely label is the choice, the weight of yes the noul', async (t) => {
  const { ask } = await decider({
    logit: (_, token) => (token === 'B' || /^ ?yes$/i.test(token) ? 5 : -5),
  })
  const { answers } = await ask(body)
  t.equal((answers['10'] as ChoiceAnswer).choice, '7')
  t.ok((answers['wet'] as NoulAnswer).noul > 0.999)
})

t.test('usage counts prompt, answers and what came from the cache', async (t) => {
  const { ask, engine } = await decider()
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
  const { ask, engine } = await decider()
  engine.countTokens = async () => 0
  t.equal((await ask(body)).usage.output_tokens, 1)
})

t.test('a model answers to its own name, its aliases and the names of the default', async (t) => {
  const { ask } = await decider()
  const question = '"questions":{"q":{"type":"noul","instructions":"?"}}'
  for (const name of ['fake-1M', 'fake', 'default', 'latest', 'jev-latest', 'jev-preview']) {
    t.equal((await ask(`{"state":1,${question},"model":"${name}"}`)).model, 'fake-1M', name)
  }
  await t.rejects(ask(`{"state":1,${question},"model":"gpt"}`), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'model',
    message:
      'model: expected one of fake-1M, fake, default, latest, jev-latest, jev-preview, got "gpt"',
  })
})

t.test('a model that is not the default does not answer to its names', async (t) => {
  const created = await createDecider(createFakeEngine(), { ...facts, default: false })
  const request = { state: 1, questions: { q: { type: 'noul', instructions: '?' } as const } }
  await t.rejects(created.decide({ ...request, model: 'latest' }), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'model',
  })
})

t.test('requests that the model cannot answer are refused', async (t) => {
  const { created } = await decider({ isWord: (word) => word.length < 2 })
  const noul = { type: 'noul', instructions: '?' } as const
  const many = Object.fromEntries(Array.from({ length: 401 }, (_, i) => [`q${i}`, noul]))
  const unacceptable = { code: 'ERR_REQUEST_UNACCEPTABLE' }
  await t.rejects(created.decide({ state: 1, questions: many }), {
    ...unacceptable,
    message: 'questions: expected 1 to 400 questions, got 401',
  })
  const criteria = new Array<string>(256).fill('x')
  await t.rejects(
    created.decide({ state: 1, questions: { q: { type: 'score', criteria } } }),
    unacceptable,
  )
  // The letters are all its labels.
  t.equal(created.limits.maxLevels, 26)
})

t.test("the engine's refusals are passed on", async (t) => {
  const narrow = await decider({ info: { contextTokens: 1000 } })
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

  const slow = await decider({ delayMs: 1000 })
  await t.rejects(slow.ask(body, { signal: AbortSignal.timeout(5) }), { code: 'ERR_ABORTED' })

  const busy = await decider({ delayMs: 20, maxQueued: 1 })
  const first = busy.ask(body)
  await t.rejects(busy.ask(body), { code: 'ERR_OVERLOADED' })
  await first

  await busy.engine.close()
  await t.rejects(busy.ask(body), { code: 'ERR_ENGINE_CLOSED' })
})

t.test('workspace, scope, remaining time, signal and id reach the engine', async (t) => {
  const { ask, engine } = await decider()
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

t.test('evidence is added on request', async (t) => {
  const { ask } = await decider()
  const { answers } = await ask(body, { evidence: true })
  for (const name of keysOf(answers)) {
    const { evidence } = answers[name]!
    t.ok(evidence && evidence.label_mass > 0 && evidence.label_mass <= 1, name)
  }
  t.equal(answers['10']!.evidence!.logits.length, 4)
  t.equal(answers['wet']!.evidence!.logits.length, 2)
  t.notMatch(serializeDecision(await ask(body)), 'evidence')
})

t.test('a temperature flattens', async (t) => {
  const engine = createFakeEngine({ logit: (_, token) => (token === 'A' ? 3 : 0) })
  const request = {
    state: 1,
    questions: { q: { type: 'choice', criteria: { a: 1, b: 2 } } as const },
  }
  const probability = async (temperature: number) => {
    const calibration = {
      ...{ path: 'c.json', digest: facts.digest, readout: 'letters@1', data: 'd', date: '' },
      observations: 1,
      of: () => ({ temperature, bias: 0 }),
    }
    const created = await createDecider(engine, { ...facts, calibration })
    return ((await created.decide(request)).answers['q'] as ChoiceAnswer).probabilities['a']!
  }
  t.ok((await probability(1)) > (await probability(3)))
})

t.test('the card of a model', async (t) => {
  const { created, engine } = await decider()
  t.match(created.card, {
    name: 'fake-1M',
    description: 'fake 1M F32',
    default: true,
    readout: 'letters@1',
    limits: { max_options: 255, max_questions: 400, max_state_tokens: 8192 },
  })
  const readout = await createReadout(engine)
  for (const [fileName, general, name] of [
    ['Qwen3-0.6B-Q8_0.gguf', 'Qwen3', 'Qwen3-0.6B-Q8_0'],
    ['big-00001-of-00003.gguf', 'Big', 'big'],
    ['a b.GGUF', 'x', 'a-b'],
    ['', 'My Model', 'My-Model'],
  ] as const) {
    const info = { ...engine.info, metadata: { 'general.name': general } }
    t.equal(createModelCard(info, readout, { ...facts, fileName }).name, name)
  }
  t.equal(createModelCard(engine.info, readout, { ...facts, name: 'own' }).name, 'own')
})

t.test('a model with random weights says so', async (t) => {
  const metadata = { 'oi.random_weights': 'true' }
  const { created, engine } = await decider({ info: { metadata } })
  t.ok(hasRandomWeights(engine.info))
  t.match(created.card.description, /random/)
  t.notOk(hasRandomWeights(createFakeEngine().info))
})
