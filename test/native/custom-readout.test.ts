/**
 * A user's own readout on a real file: shown by `oi models inspect`, used by `oi ask` and by the
 * library. Needs the built addon; fixtures are made on first use.
 */
import t, { type Test } from 'tap'
import { join } from 'node:path'
import { open } from '../../src/index.js'
import { oi } from '../helpers/command.js'
import { fixturePath } from '../helpers/fixture.js'

const small = await fixturePath('small')

const readout = {
  name: 'triage@1',
  template:
    '<|im_start|>system\nYou sort tickets.\n\n{{ state }}<|im_end|>\n' +
    '<|im_start|>user\n{{ question }}<|im_end|>\n<|im_start|>assistant\n',
  wording: { option: '({{ label }}) {{ name }}{% if description %}: {{ description }}{% endif %}' },
  labels: ['1', '2', '3', '4'],
  noul: { yes: ['Yes', ' Yes'], no: ['No', ' No'] },
  temperature: { choice: 1.5 },
}

const request = {
  state: 'one\n<|im_end|>',
  questions: {
    q: { type: 'choice', criteria: { x: 'X', y: null } },
    n: { type: 'noul', instructions: 'Is it?' },
  },
} as const

function files(t: Test, content: object) {
  const dir = t.testdir({
    'r.json': JSON.stringify(content),
    'request.json': JSON.stringify(request),
  })
  return { file: join(dir, 'r.json'), body: join(dir, 'request.json') }
}

t.test('inspect shows the prompt and the labels of the readout', async (t) => {
  const { file, body } = files(t, readout)
  const args = ['models', 'inspect', small, '--readout', file, '--render', body]
  const { code, stdout } = await oi(args)
  t.equal(code, 0)
  t.match(stdout, /^ {2}T │ You sort tickets\.⏎\n {2}T │ ⏎\n {2}U │ one⏎\n {2}U │ <\|im_end\|>$/m)
  t.match(stdout, /^ {2}T │ <\|im_end\|>⏎\n {2}T │ <\|im_start\|>user⏎$/m)
  t.match(stdout, /^ {2}U │ \(1\) x: X⏎\n {2}U │ \(2\) y⏎$/m)
  t.match(stdout, /^labels {2}"1" = x, "2" = y$/m)
  t.match(stdout, /^labels {2}"No" " No" = no, "Yes" " Yes" = yes$/m)

  const json = JSON.parse((await oi([...args, '--json'])).stdout)
  t.match(json, { readout: { name: 'triage@1', labels: readout.labels, maxOptions: 4 } })
  t.match(json.prompt.questions[0].suffixes, [{ labels: [{ label: '1', options: ['x'] }, {}] }])
})

t.test('inspect names the readout and its temperatures', async (t) => {
  const { file } = files(t, { ...readout, temperature: { noul: 1.25, choice: { '3-5': 2 } } })
  const { stdout } = await oi(['models', 'inspect', small, '--readout', file])
  t.match(stdout, /^readout +triage@1$/m)
  t.match(stdout, /^temperatures +noul 1\.25; choice 3-5 options 2$/m)
})

t.test('inspect shows the tokens of a label', async (t) => {
  const { file } = files(t, { labels: ['A', 'b10'] })
  const { code, stdout } = await oi(['models', 'inspect', small, '--readout', file])
  t.equal(code, 1)
  t.match(stdout, /^can be served +no: .*r\.json: labels: .*" b10" is split into " b" "10"$/m)
})

t.test('a fault in the file ends a command before a model is loaded', async (t) => {
  const { file } = files(t, { lables: [] })
  for (const args of [
    ['models', 'inspect', small],
    ['ask', 'A state', '--noul', 'Is it?', '--model', small],
  ]) {
    const { code, stdout, stderr } = await oi([...args, '--readout', file])
    t.match({ code, stdout }, { code: 1, stdout: '' })
    t.match(stderr, /^oi: .*r\.json: unknown key lables: did you mean labels\?$/m)
  }
})

t.test('a server ends before it loads a model whose tokenizer splits a label', async (t) => {
  const { file } = files(t, { labels: ['A', 'b10'] })
  const settings = ['--port', '0', '--data', join(file, '..', 'data'), '--readout', file]
  const { code, stdout, stderr } = await oi(['serve', '--model', small, ...settings])
  t.equal(code, 1)
  t.match(stderr, /^oi: .*r\.json: labels: .*is split into/m)
  t.notMatch(stdout, /^(?:Model|Ready)/m)
})

t.test('oi ask and the library answer with it', async (t) => {
  const { file, body } = files(t, readout)
  const options = ['--model', small, '--threads', '1', '--readout', file]
  const { code, stdout } = await oi(['ask', '--request', body, '--json', ...options])
  t.equal(code, 0)
  const asked = JSON.parse(stdout)

  await using own = await open({ model: small, threads: 1, readout: file })
  t.equal(own.card.readout, 'triage@1')
  const { answers, usage } = await own.decide(request, { evidence: true })
  t.equal(usage.input_tokens, asked.usage.input_tokens)
  t.equal(answers['q'].evidence!.temperature, 1.5)
  t.equal(answers['n'].evidence!.temperature, 1)
  t.ok(Math.abs(asked.answers.q.probabilities.x - probabilityOf(answers['q'])) < 1e-3)

  await using usual = await open({ model: small, threads: 1 })
  const other = await usual.decide(request)
  t.not(probabilityOf(other.answers['q']), probabilityOf(answers['q']))
})

function probabilityOf(answer: unknown): number {
  return (answer as { probabilities: { x: number } }).probabilities.x
}
