/** `oi eval --rows-out` as a child process, over an engine without a model. */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Report } from '../../src/evaluate/report.js'
import { ended, RunningCommand } from '../helpers/command.js'
import { rowText } from '../helpers/labelled.js'

const count = 40
const rows = Array.from({ length: count }, (_, i) => rowText(i)).join('\n')
const oi = (args: readonly string[]) => new RunningCommand(['eval', ...args], 'fake')
const local = ['--model', 'fake.gguf']

/** What is read of a row of `--rows-out`. */
interface Written {
  readonly answers: { readonly sure: { noul: number }; readonly colour: { choice: string } }
  readonly expected: { readonly sure: boolean; readonly colour: string }
  readonly oi_right: Readonly<Record<'sure' | 'colour', boolean>>
}

t.test('--rows-out writes each row with its answers and whether they are right', async (t) => {
  const lines = Array.from(
    { length: 60 },
    (_, i) => `"text; ${i}";${i % 2 === 0 ? 'yes' : 'no'};\r\n`,
  )
  const dir = t.testdir({
    'rows.csv': `\ufefftext;rain;colour\r\n${lines.join('')}`,
    'rows.jsonl': rows,
    'questions.json': JSON.stringify({
      rain: { type: 'noul', instructions: 'Does it rain?' },
      colour: { type: 'choice', criteria: { red: null, blue: null } },
    }),
  })
  const [out, run] = [join(dir, 'out'), join(dir, 'run.jsonl')]
  const beside = [...local, '--questions', join(dir, 'questions.json'), '--resume', run]
  const table = [join(dir, 'rows.csv'), ...beside, '--rows-out', out, '--json']
  t.equal((await ended(oi([...table, '--limit', '25']))).code, 0)
  const { code, stdout, stderr } = await ended(oi(table))
  t.equal(code, 0, stderr)
  const written = readFileSync(out, 'utf8')
  const [head, ...texts] = written.trimEnd().split('\r\n')
  t.equal(
    head,
    '\ufefftext;rain;colour;rain_answer;rain_probability;rain_right;' +
      'colour_answer;colour_probability;colour_right;oi_error',
  )
  const cells = texts.map((text) => text.replace(/^"[^"]*"/, '').split(';'))
  t.equal(cells.length, 60)
  for (const [, rain, colour, answer, probability, right, given, , known] of cells) {
    t.equal(right, answer === rain ? 'yes' : 'no')
    t.equal(Number(probability!.replace(',', '.')) >= 0.5, answer === 'yes')
    t.match([colour, given, known], ['', /^(?:red|blue)$/, ''])
  }
  const { overall } = JSON.parse(stdout) as Report
  t.equal(overall.accuracy, cells.filter((row) => row[5] === 'yes').length / 60)
  t.equal((await ended(oi(table))).code, 0)
  t.equal(readFileSync(out, 'utf8'), written)

  t.equal((await ended(oi([join(dir, 'rows.jsonl'), ...local, '--rows-out', out]))).code, 0)
  const objects = readFileSync(out, 'utf8').trimEnd().split('\n')
  t.equal(objects.length, count)
  for (const [i, text] of objects.entries()) {
    t.ok(text.startsWith(`${rowText(i).slice(0, -1)},"answers":{"sure":{"type":"noul","noul":`))
    t.notMatch(text, 'evidence')
    const { answers, expected, oi_right: right } = JSON.parse(text) as Written
    t.equal(right.sure, answers.sure.noul >= 0.5 === expected.sure)
    t.equal(right.colour, answers.colour.choice === expected.colour)
  }
})

t.test('--rows-out writes over nothing that is read', async (t) => {
  const dir = t.testdir({ 'rows.jsonl': rows, link: t.fixture('symlink', 'rows.jsonl') })
  const [file, run] = [join(dir, 'rows.jsonl'), join(dir, 'run.jsonl')]
  for (const [args, name] of [
    [['--rows-out', file], '<file>'],
    [['--rows-out', join(dir, 'link')], '<file>'],
    [['--rows-out', run, '--resume', run], '--resume'],
  ] as const) {
    const { code, stderr } = await ended(oi([file, ...local, ...args]))
    t.equal(code, 2)
    t.match(stderr, `this is the file of ${name}; name another`)
  }
  t.equal(readFileSync(file, 'utf8'), rows)
})
