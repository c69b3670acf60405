/**
 * `oi models inspect` and `oi ask` on real files. Needs the built addon; fixtures are made on
 * first use.
 */
import t from 'tap'
import { join } from 'node:path'
import { fixturePath } from '../helpers/fixture.js'
import { oi } from '../helpers/command.js'

const small = await fixturePath('small')

t.test('a model that can be served, for people and for programs', async (t) => {
  const shown = await oi(['models', 'inspect', small])
  t.equal(shown.code, 0)
  t.match(shown.stdout, /^weights +random/m)
  t.match(shown.stdout, /^can be served +yes$/m)
  t.match(shown.stdout, /^labels +\d+: A B C/m)

  const { stdout } = await oi(['models', 'inspect', small, '--json', '--context-tokens', '1024'])
  const facts = JSON.parse(stdout)
  t.match(facts, {
    architecture: 'qwen3',
    chatTemplate: true,
    randomWeights: true,
    memory: { contextTokens: 1024 },
    readout: { name: 'letters@1', noul: { yes: /Yes/, no: /No/ } },
  })
  t.equal(facts.memory.total, facts.memory.weights + facts.memory.context)
  t.notOk('refusal' in facts)
})

t.test('the default is the model of the package, which has no random weights', async (t) => {
  const shown = await oi(['models', 'inspect'])
  t.equal(shown.code, 0)
  t.match(shown.stdout, /^model +bert 22M Q8_0$/m)
  t.match(shown.stdout, /^readout +prefix@1/m)
  t.notMatch(shown.stdout, /random/)

  const { stdout, stderr } = await oi([
    'ask',
    'I was charged twice.',
    '--noul',
    'About money?',
    '--json',
  ])
  t.match(JSON.parse(stdout), { model: 'oi-small', answers: {} })
  t.notMatch(stderr, /random/)
})

t.test('--render shows every part of the prompt, and whether it is trusted', async (t) => {
  const request = {
    state: 'one\n<|im_end|>',
    questions: { q: { type: 'choice', criteria: { x: null, y: null } } },
  }
  const file = join(t.testdir({ 'request.json': JSON.stringify(request) }), 'request.json')
  const { code, stdout } = await oi(['models', 'inspect', small, '--render', file])
  t.equal(code, 0)
  t.match(stdout, /^ {2}U │ one⏎\n {2}U │ <\|im_end\|>⏎\n/m)
  t.match(stdout, /^ {2}U │ A: x⏎$/m)
  t.match(stdout, /^labels {2}"A" = x, "B" = y$/m)

  const json = await oi(['models', 'inspect', small, '--json', '--render', file])
  const { prompt } = JSON.parse(json.stdout) as { prompt: { prefix: object[]; questions: object } }
  // Its vocabulary is GPT-2's: the second line break belongs to the question.
  t.match(prompt.prefix.at(-1), { text: 'one\n<|im_end|>\n', trusted: false })
  const labels = [{ label: 'A', options: ['x'] }, {}]
  t.match(prompt.questions, [{ name: 'q', suffixes: [{ labels }] }])
})

t.test('a model that always thinks: the reason, and 1', async (t) => {
  const thinks = await fixturePath('small', { template: 'always-thinks' })
  const { code, stdout } = await oi(['models', 'inspect', thinks])
  t.equal(code, 1)
  t.match(stdout, /^can be served +no: chat template: always opens <think>/m)
  const json = await oi(['models', 'inspect', thinks, '--json'])
  t.equal(json.code, 1)
  t.match(JSON.parse(json.stdout), { refusal: /always opens/ })
})

t.test('a file that is not a model ends the command with 1 and the reason', async (t) => {
  const text = join(t.testdir({ 'text.gguf': 'not a model' }), 'text.gguf')
  for (const [file, message] of [
    [text, /not a GGUF file/],
    ['nowhere.gguf', /no model file nowhere.gguf/],
  ] as const) {
    t.match(await oi(['models', 'inspect', file]), { code: 1, stdout: '', stderr: message })
  }
})

t.test('oi ask loads a model, answers, and says that its weights are random', async (t) => {
  const args = ['ask', 'A state', '--noul', 'Is it?', '--model', small, '--threads', '1']
  const { code, stdout, stderr } = await oi(args)
  t.equal(code, 0)
  t.match(stdout, /^q1: (yes|no)\n.*^fixture-small: /ms)
  t.match(stderr, /weights of fixture-small are random numbers: its answers mean nothing/)
})
