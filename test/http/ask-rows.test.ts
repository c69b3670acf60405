/** `oi ask --rows` as a child process: over an engine without a model, and against a server. */
import t from 'tap'
import { parse } from 'csv-parse/sync'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type {
  ChoiceAnswer,
  DecideRequest,
  NoulAnswer,
  ScoreAnswer,
} from '../../src/decide/types.js'
import { OiError } from '../../src/errors.js'
import { settled } from '../helpers/batch.js'
import { ended, RunningCommand } from '../helpers/command.js'
import { decisionOn, Gated, rowText } from '../helpers/labelled.js'
import { stubDecider, withServer, realWire } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const oi = (args: readonly string[], input = '') =>
  new RunningCommand(['ask', '--rows', ...args], 'fake', {}, input)
const local = ['--model', 'fake.gguf']
const questions = {
  money: { type: 'noul', instructions: 'Is it about money?' },
  team: { type: 'choice', criteria: { Accounts: 'payments', 'Tech; "IT"': null } },
  urgent: { type: 'score', criteria: ['can wait', 'today'] },
} as const
interface Answers {
  readonly money: NoulAnswer
  readonly team: ChoiceAnswer
  readonly urgent: ScoreAnswer
}
const answersTo = (state: string) => decisionOn({ state, questions }).answers

/** As Excel for Windows writes a table where the decimal sign is a comma. */
const excelRow = (i: number) => `${i};"Grüße ${i};\r\n""twice"", please";${i},5\r\n`
const excel = (count: number) =>
  `\ufeffid;text;sum\r\n${Array.from({ length: count }, (_, i) => excelRow(i)).join('')}`
const excelState = (i: number) => `Grüße ${i};\r\n"twice", please`

t.test('a table of Excel comes back as one, with the answers behind each row', async (t) => {
  const dir = t.testdir({ 'rows.csv': excel(40), 'questions.json': JSON.stringify(questions) })
  const decider = stubDecider(async (request) => decisionOn(request))
  await withServer({ decider, wire: realWire }, async ({ url, key }) => {
    const from = ['--questions', join(dir, 'questions.json'), '--url', url, '--key', key]
    const { code, stdout, stderr } = await ended(oi([join(dir, 'rows.csv'), ...from]))
    t.equal(code, 0, stderr)
    t.equal(stderr, '40 of 40 rows written\n')
    t.ok(stdout.startsWith('\ufeffid;text;sum;money_answer;money_probability;team_answer;'))
    t.notMatch(stdout.replaceAll('\r\n', ''), '\n')
    const rows = parse(stdout, { bom: true, delimiter: ';', columns: true })
    t.equal(rows.length, 40)
    for (const [i, row] of rows.entries()) {
      const { money, team, urgent } = answersTo(excelState(i)) as unknown as Answers
      const comma = (value: number) => String(Number(value.toFixed(6))).replace('.', ',')
      t.strictSame(row, {
        ...{ id: String(i), text: excelState(i), sum: `${i},5` },
        money_answer: money.noul >= 0.5 ? 'yes' : 'no',
        money_probability: comma(money.noul),
        team_answer: team.choice,
        team_probability: comma(Math.max(...Object.values(team.probabilities))),
        urgent_answer: comma(urgent.score),
        urgent_probability: comma(Math.max(...Object.values(urgent.probabilities))),
        oi_error: '',
      })
    }
  })
})

t.test('rows of JSON come back as they were, whatever kind of file they are in', async (t) => {
  const items = [0, 1, 2].map((i) => `{"id":1.0,"7":${i},"text":"state ${i}, [or {"}`)
  const lines = items.map((item) => `${item}\n`).join('')
  const array = `[\n${items.join(',\n')}\n]\n`
  const dir = t.testdir({ lines, array, zipped: gzipSync(lines), csv: 'text\n"state 0, [or {"\n' })
  const asked = ['--noul', 'q=Is it?', ...local]
  const run = async (name: string, more: readonly string[] = [], input = '') => {
    const path = name === '-' ? name : join(dir, name)
    const { code, stdout, stderr } = await ended(oi([path, ...asked, ...more], input))
    t.equal(code, 0, stderr)
    return stdout
  }
  const written = await run('lines')
  const shown = written.trimEnd().split('\n')
  t.equal(shown.length, 3)
  for (const [i, text] of shown.entries()) {
    t.ok(text.startsWith(`${items[i]!.slice(0, -1)},"answers":{"q":{"type":"noul","noul":`), text)
  }
  t.equal(await run('array'), `[\n${shown.join(',\n')}\n]\n`)
  t.equal(await run('zipped'), written)
  t.equal(await run('-', [], lines), written)
  t.equal(await run('-', ['--limit', '2'], array), `[\n${shown.slice(0, 2).join(',\n')}\n]\n`)
  const [answers] = /"answers".*/.exec(shown[0]!)!
  t.equal(await run('csv', ['--json']), `{"text":"state 0, [or {",${answers}\n`)
  t.match(await run('csv', ['--json', '--evidence']), /"evidence":\{"label_mass":/)
})

t.test(
  'without questions each row is a whole request, and its right answers stay here',
  async (t) => {
    const dir = t.testdir({ rows: `${rowText(0)}\n\n${rowText(1)}\n` })
    const bodies: DecideRequest[] = []
    const decider = stubDecider(async (request) => {
      bodies.push(request)
      return decisionOn(request)
    })
    await withServer({ decider, wire: realWire }, async ({ url, key }) => {
      const { code, stdout } = await ended(oi([join(dir, 'rows'), '--url', url, '--key', key]))
      t.equal(code, 0)
      const [first, second] = stdout.trimEnd().split('\n')
      t.ok(first!.startsWith(`${rowText(0).slice(0, -1)},"answers":{"sure":`))
      t.ok(second!.startsWith(`${rowText(1).slice(0, -1)},"answers":{"sure":`))
    })
    t.equal(bodies.length, 2)
    t.notOk(bodies.some((body) => 'expected' in body || 'evidence' in body))
  },
)

t.test('a refused row has its reason, and ends the command with 1', async (t) => {
  const dir = t.testdir({ csv: 'text\na\nb\nc\n', jsonl: '{"text":"a"}\n{"text":"b"}\n' })
  const decider = stubDecider(async (request) => {
    if (request.state !== 'b') return decisionOn(request)
    throw new OiError('ERR_STATE_TOO_LONG', 'state: expected less, "b"', { param: 'state' })
  })
  await withServer({ decider, wire: realWire }, async ({ url, key }) => {
    const more = ['--noul', 'q=Is it?', '--url', url, '--key', key]
    const table = await ended(oi([join(dir, 'csv'), ...more]))
    t.equal(table.code, 1)
    t.match(
      table.stdout,
      /^text,q_answer,q_probability,oi_error\na,(?:yes|no),[\d.]+,\nb,,,"state: expected less, ""b"""\nc,/,
    )
    t.match(table.stderr, /^refused: line 3: state: expected less, "b"\n3 of 3 rows .*, 1 of them/)
    const lines = await ended(oi([join(dir, 'jsonl'), ...more]))
    t.match(lines.stdout, '\n{"text":"b","answers":null,"oi_error":"state: expected less')
  })
})

t.test('a killed run continues: nothing is asked twice, and the output is whole', async (t) => {
  const count = 120
  const dir = t.testdir({ 'rows.csv': excel(count) })
  const resume = join(dir, 'run.jsonl')
  const gated = new Gated(50)
  await withServer({ decider: gated.decider, wire: realWire }, async ({ url, key }) => {
    const args = (file: string) => [
      ...[join(dir, file), '--noul', 'q=Is it?', '--url', url, '--key', key],
    ]
    const killed = oi([...args('rows.csv'), '--resume', resume])
    const kept = () => (existsSync(resume) ? readFileSync(resume, 'utf8').split('\n').length : 0)
    // The head, 50 rows, and the text behind the last line break.
    await until(() => kept() >= 52 && gated.asked.length > 50)
    killed.process.kill('SIGKILL')
    await killed.exited
    const before = await settled(() => gated.asked.length)
    t.ok(before <= 50 + 16)
    gated.open()
    const resumed = await ended(oi([...args('rows.csv'), '--resume', resume]))
    t.equal(resumed.code, 0, resumed.stderr)
    t.equal(gated.asked.length, before + count - 50)
    const whole = await ended(oi([...args('rows.csv'), '--concurrency', '1']))
    t.equal(resumed.stdout, whole.stdout)
    const again = await ended(oi([...args('rows.csv'), '--resume', resume]))
    t.equal(again.stdout, whole.stdout)
    t.equal(gated.asked.length, before + count - 50 + count)
    const other = await ended(oi([...args('rows.csv').with(2, 'q=Or not?'), '--resume', resume]))
    t.match(other, { code: 2, stderr: /--resume .*other rows, or with other questions/ })
  })
})

t.test('Ctrl-C waits for the rows that are asked, and keeps them', async (t) => {
  const dir = t.testdir({ 'rows.csv': excel(60) })
  const resume = join(dir, 'run.jsonl')
  const gated = new Gated(10)
  await withServer({ decider: gated.decider, wire: realWire }, async ({ url, key }) => {
    const more = ['--noul', 'q=Is it?', '--url', url, '--key', key, '--resume', resume]
    const stopped = oi([join(dir, 'rows.csv'), ...more, '--concurrency', '4'])
    await until(() => gated.asked.length === 14)
    stopped.process.kill('SIGINT')
    setTimeout(() => gated.open(), 300)
    const { code, stdout, stderr } = await ended(stopped)
    t.equal(code, 1)
    t.match(
      stderr,
      /^Ended early: 14 of 60 rows written\. What is answered is kept in .*run\.jsonl/,
    )
    t.equal(parse(stdout, { bom: true, delimiter: ';', columns: true }).length, 14)
    t.equal((await ended(oi([join(dir, 'rows.csv'), ...more]))).code, 0)
    t.equal(gated.asked.length, 60)
    t.equal(new Set(gated.asked).size, 60)
  })
})

t.test('a reader that leaves ends the asking', async (t) => {
  const dir = t.testdir({ 'rows.csv': excel(2000) })
  const gated = new Gated()
  await withServer({ decider: gated.decider, wire: realWire }, async ({ url, key }) => {
    const stub = new URL('../fixtures/oi-stub.js', import.meta.url).pathname
    const args = [stub, 'ask', '--rows', join(dir, 'rows.csv'), '--noul', 'q=Is it?']
    const env = { ...process.env, OI_TEST_MODEL: 'fake', OI_KEY: key }
    const child = spawn(process.execPath, [...args, '--url', url], { env })
    child.stdout.once('data', () => child.stdout.destroy())
    child.stderr.resume()
    await new Promise((resolve) => child.once('close', resolve))
    t.ok(gated.asked.length < 1900, `${gated.asked.length} rows`)
  })
})

t.test('a server that is not there ends the command after the rows so far', async (t) => {
  const dir = t.testdir({ 'rows.csv': excel(3) })
  let asked = 0
  const decider = stubDecider(async (request) => {
    if (++asked === 3) throw new OiError('ERR_BALANCE', 'not for you')
    return decisionOn(request)
  })
  await withServer({ decider, wire: realWire }, async ({ url, key }) => {
    const more = ['--noul', 'q=Is it?', '--url', url, '--key', key, '--concurrency', '1']
    const { code, stdout, stderr } = await ended(oi([join(dir, 'rows.csv'), ...more]))
    t.equal(code, 1)
    t.equal(parse(stdout, { bom: true, delimiter: ';' }).length, 3)
    t.match(stderr, /Ended early: 2 of 3 rows written\. With --resume <file>/)
    t.match(stderr, /^oi: line 6: .* answered 402/m)
  })
})

for (const [title, args, code, message] of [
  ['an argument', ['CSV', 'x', '--noul', 'q'], 2, /--rows has the states: leave out the argument/],
  ['a state file', ['CSV', '--state-file', 'x', '--noul', 'q'], 2, /leave out --state-file/],
  ['a column without a question', ['JSON', '--state', 'text'], 2, /--state needs a question/],
  ['a table without questions', ['CSV'], 1, /a table \(CSV, TSV\) needs --questions <file>/],
  ['another column', ['CSV', '--noul', 'q', '--state', 'Text'], 2, /no column "Text" among "text"/],
  ['no such member', ['JSON', '--noul', 'q', '--state', 'Text'], 1, /line 1: Text: .* got "text"/],
  ['answers already', ['DONE', '--noul', 'q=Is it?'], 1, /line 2: q_answer: .* answers already/],
  ['bad questions', ['CSV', '--questions', '{"q":{"type":"nool"}}'], 1, /questions\.q\.type/],
  ['a bad line', ['BAD', '--noul', 'q'], 1, /^oi: line 2: body: not valid JSON/m],
  ['a bad item', ['ITEM', '--noul', 'q'], 1, /^oi: item 2: text: expected this member/m],
  ['no end', ['OPEN', '--noul', 'q'], 1, /^oi: item 2: the array does not end/m],
  ['half a file', ['HALF', '--noul', 'q'], 1, /^oi: not a whole gzip file/m],
  ['no row', ['EMPTY', '--noul', 'q'], 2, /expected at least one row/],
] as const) {
  t.test(`${title} ends the command before a model is loaded`, async (t) => {
    const dir = t.testdir({
      ...{ CSV: 'text\nx\n', JSON: '{"text":"x"}\n', DONE: 'text,q_answer\nx,yes\n', EMPTY: '\n' },
      ...{ BAD: '{"text":"x"}\n{"text"\n', ITEM: '[{"text":"x"},{}]', OPEN: '[{"text":"x"},\n' },
      HALF: gzipSync('text\nx\n').subarray(0, 12),
    })
    const [name, ...more] = args
    const result = await ended(oi([join(dir, name), ...more, ...local]))
    t.equal(result.code, code, result.stderr)
    t.match(result.stderr, message)
    t.notMatch(result.stderr, 'Model closed')
    t.equal(result.stdout, '')
  })
}

t.test('flags of rows need rows', async (t) => {
  const alone = await ended(
    new RunningCommand(['ask', 'x', '--resume', 'f', '--noul', 'q'], 'fake'),
  )
  t.match(alone, { code: 2, stderr: /--resume needs --rows <file>/ })
})
