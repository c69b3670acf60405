/** `oi calibrate` as a child process, over an engine without a model. */
import t from 'tap'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ended, RunningCommand } from '../helpers/command.js'
import { createRandom } from '../helpers/random.js'
import { synthetic } from '../helpers/synthetic.js'

const calibrate = (args: readonly string[], environment: Record<string, string> = {}) =>
  ended(new RunningCommand(['calibrate', ...args], 'fake', environment))

const questions = {
  wet: { type: 'noul', instructions: 'Is it wet?' },
  team: { type: 'choice', criteria: { a: null, b: null, c: null } },
}
/** The model without weights answers by hash, independent of the right answers. */
const rows = Array.from({ length: 120 }, (_, i) =>
  JSON.stringify({
    ...{ state: `Ticket ${i}`, questions },
    expected: { wet: i % 3 > 0, team: i % 2 > 0 ? 'a' : 'c' },
  }),
).join('\n')

const saved = synthetic(createRandom(5), {
  ...{ type: 'choice', options: 3, count: 600, temperature: 2, question: 'team' },
})
  .map((observation) => JSON.stringify(observation))
  .join('\n')

t.test('rows become a file beside the model, with figures and thresholds', async (t) => {
  const dir = t.testdir({ 'rows.jsonl': rows })
  const model = join(dir, 'fake.gguf')
  const ran = await calibrate([join(dir, 'rows.jsonl'), '--model', model, '--decide', '0.1'])
  t.equal(ran.code, 0, ran.stderr)
  t.match(ran.stdout, /^\d+ answers fitted, \d+ held out \(30 % of the rows, seed 1\)$/m)
  t.match(ran.stdout, /noul .*\d\.\d{3} \(\d\.\d{3} to \d\.\d{3}\)/)
  t.match(ran.stdout, /^No threshold holds for team: /m)
  t.match(ran.stdout, `Written to ${model}.calibration.json\n`)
  t.equal(
    ran.stderr,
    '--decide 0.1 takes at least 29 held-out answers to a question, even if all are right: ' +
      'about 97 rows with it, of which 30 % are held out. There are 120 rows.\n' +
      'The weights of fake are random\n120 of 120 rows answered\nModel closed\n',
  )

  const file = JSON.parse(readFileSync(`${model}.calibration.json`, 'utf8'))
  t.match(file, {
    format: 'oi-calibration@1',
    model: 'sha256:',
    readout: 'letters@1',
    data: 'rows.jsonl',
    date: /^\d{4}-\d\d-\d\d$/,
    types: { noul: { temperature: Number }, choice: { temperature: Number } },
  })
  // Meaningless answers are right as often as chance.
  t.ok(
    file.types.choice.temperature > 2 && file.heldOut.after.logLoss < file.heldOut.before.logLoss,
  )
})

t.test(
  'the same rows give the same numbers; --out names the file, --json is for programs',
  async (t) => {
    const dir = t.testdir({ 'rows.jsonl': rows })
    const out = join(dir, 'c.json')
    const args = [join(dir, 'rows.jsonl'), '--model', 'fake.gguf', '--out', out, '--json']
    const [first, again] = [await calibrate(args), await calibrate(args)]
    t.equal(first.code, 0, first.stderr)
    t.equal(first.stdout, again.stdout)
    const shown = JSON.parse(first.stdout)
    t.notOk('thresholds' in shown)
    t.strictSame(JSON.parse(readFileSync(out, 'utf8')).types, shown.types)
    t.match(shown.heldOut.types, { noul: {}, choice: {} })
  },
)

t.test('--html writes the curves before and after, and names are text there', async (t) => {
  const dir = t.testdir({ '<b>.jsonl': rows })
  const html = join(dir, 'page.html')
  const args = [join(dir, '<b>.jsonl'), '--model', 'fake.gguf', '--out', join(dir, 'c.json')]
  const ran = await calibrate([...args, '--html', html, '--json'])
  t.equal(ran.code, 0, ran.stderr)
  const { heldOut } = JSON.parse(ran.stdout) as { heldOut: { types: Record<string, Compared> } }
  const page = readFileSync(html, 'utf8')
  t.match(page, /<h1>Calibration on &lt;b&gt;\.jsonl<\/h1>/)
  for (const [type, { before, after }] of Object.entries(heldOut.types)) {
    const ece = (figures: { ece: number }) => figures.ece.toFixed(3).replace(/^0/, '')
    t.ok(page.includes(`Reliability of ${type}, before: ECE ${ece(before)}`), `${type}, before`)
    t.ok(page.includes(`Reliability of ${type}, after: ECE ${ece(after)}`), `${type}, after`)
  }
  const refused = await calibrate([...args, '--html', join(dir, 'no', 'page.html')])
  t.match(refused, { code: 2, stderr: /--html: ENOENT/ })
})

interface Compared {
  readonly before: { ece: number }
  readonly after: { ece: number }
}

t.test('saved observations need no model, and without a model nothing is written', async (t) => {
  const dir = t.testdir({ 'seen.jsonl': saved })
  const file = join(dir, 'seen.jsonl')
  const ran = await calibrate(['--observations', file, '--json', '--decide', '0.2'])
  t.equal(ran.code, 0, ran.stderr)
  const { types, thresholds, path } = JSON.parse(ran.stdout)
  t.ok(Math.abs(types.choice.temperature - 2) < 0.4)
  t.match(thresholds, {
    ...{ rate: 0.2, confidence: 0.95 },
    questions: [{ question: 'team', found: { threshold: Number, bound: Number } }],
  })
  t.equal(path, undefined)
  t.match((await calibrate(['--observations', file])).stdout, /^Nothing was written: .*--model/m)
  t.notOk(existsSync(join(dir, 'c.json')))
})
