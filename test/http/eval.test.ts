/** `oi eval` as a child process: over an engine without a model, and against a server. */
import t from 'tap'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DecideRequest } from '../../src/decide/types.js'
import { OiError } from '../../src/errors.js'
import type { Report } from '../../src/evaluate/report.js'
import { settled } from '../helpers/batch.js'
import { ended, RunningCommand } from '../helpers/command.js'
import { decisionOn, Gated, rowText } from '../helpers/labelled.js'
import { stubDecider, withServer, realWire } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const count = 40
const rows = Array.from({ length: count }, (_, i) => rowText(i)).join('\n')
const oi = (args: readonly string[]) => new RunningCommand(['eval', ...args], 'fake')
const local = ['--model', 'fake.gguf']

t.test('a model file: a table, a page, and the exit code 0', async (t) => {
  const dir = t.testdir({ 'rows.jsonl': rows })
  const html = join(dir, 'report.html')
  const { code, stdout, stderr } = await ended(
    oi([join(dir, 'rows.jsonl'), ...local, '--flips', '--html', html, '--limit', '10']),
  )
  t.equal(code, 0, stderr)
  t.match(stdout, /10 of 40 rows, 30 answers\nby fake \(letters@1\)/)
  t.match(stdout, /flips +shift\nall +30 /)
  t.equal(stderr, 'The weights of fake are random\nModel closed\n')
  t.match(readFileSync(html, 'utf8'), /^<!DOCTYPE html>[^]*The weights of fake are random/)
})

t.test('--other measures how well "none of the others fits" is detected', async (t) => {
  const file = join(t.testdir({ 'rows.jsonl': rows }), 'rows.jsonl')
  const others = ['--other', '7', '--other', 'blue']
  const { code, stdout, stderr } = await ended(oi([file, ...local, ...others, '--json']))
  t.equal(code, 0, stderr)
  const { overall, types } = JSON.parse(stdout) as Report
  // The rows' choices that have one of the two options.
  const asked = rows.match(/"(?:7|blue)":null/g)!.length
  t.ok(overall.other!.answers < count && overall.other!.answers <= asked)
  t.ok(overall.other!.auc > 0 && overall.other!.auc < 1)
  t.strictSame(types.choice!.other, overall.other)
  t.equal(types.noul!.other, undefined)
})

t.test(
  'a second model is compared with the first in one run, and prices give the cost of its tokens',
  async (t) => {
    const dir = t.testdir({ 'rows.jsonl': rows })
    const html = join(dir, 'report.html')
    const both = [join(dir, 'rows.jsonl'), '--model', 'one.gguf', '--model', 'two.gguf']
    const prices = ['--input-price', '2.5', '--output-price', '1000']
    const { code, stdout, stderr } = await ended(oi([...both, ...prices, '--html', html]))
    t.equal(code, 0, stderr)
    t.match(stdout, /by one \(letters@1\)[^]*Against two: 120 answers of both/)
    t.match(stdout, / credits, [\d.,]+ for 1,000 decisions\n/)
    t.match(readFileSync(html, 'utf8'), /<h2>Against two<\/h2>[^]* credits, /)

    const json = await ended(oi([...both, ...prices, '--json']))
    const { models, against, tokens, credits } = JSON.parse(json.stdout) as Report
    t.match([models, against!.models], [[{ name: 'one' }], [{ name: 'two' }]])
    t.equal(against!.answers, 3 * count)
    t.ok(Math.abs(credits! - (2.5 * tokens.input + 1000 * tokens.output) / 1e6) < 1e-6)

    for (const [args, message] of [
      [['--model', 'three.gguf'], /--model: expected one, or two to compare/],
      [['--resume', join(dir, 'run')], /--resume is about one model: .*--against run\.jsonl/],
      [['--against', join(dir, 'run')], /--against is about one model/],
      [['--url', 'http://localhost:1', '--key', 'oi-a'], /--url .*leave out --model/],
    ] as const) {
      const refused = await ended(oi([...both, ...args]))
      t.equal(refused.code, 2)
      t.match(refused.stderr, message)
    }
  },
)

t.test('--url asks a server, and --json is the report', async (t) => {
  const file = join(t.testdir({ 'rows.jsonl': rows }), 'rows.jsonl')
  const bodies: DecideRequest[] = []
  const decider = stubDecider(async (request) => {
    bodies.push(request)
    return decisionOn(request)
  })
  await withServer({ decider, wire: realWire }, async ({ url, key }) => {
    const { code, stdout, stderr } = await ended(oi([file, '--url', url, '--key', key, '--json']))
    t.equal(code, 0, stderr)
    t.match(JSON.parse(stdout), {
      rows: { inFile: count, answered: count, refused: 0 },
      whole: true,
      url,
      models: [{ name: 'stub' }],
      overall: { answers: 3 * count },
      tokens: { input: 10 * count, cached: 4 * count, output: 3 * count, image: 0 },
    })
    const wrong = await ended(oi([file, '--url', url, '--key', 'oi-wrong']))
    t.equal(wrong.code, 1)
    t.match(wrong.stderr, /models answered 401 invalid_api_key/)
  })
  t.equal(bodies.length, count)
  t.notOk(bodies.some((body) => 'expected' in body))
})

t.test(
  'the command waits for a server whose minute is used up, however often it refuses',
  async (t) => {
    const file = join(t.testdir({ 'rows.jsonl': rows }), 'rows.jsonl')
    const asked = new Map<string, number>()
    const decider = stubDecider(async (request: DecideRequest) => {
      const row = JSON.stringify(request)
      const times = (asked.get(row) ?? 0) + 1
      asked.set(row, times)
      // Places become free one by one, and concurrent rows compete for them.
      if (times <= 25) throw new OiError('ERR_RATE_LIMIT', 'used up', { retryAfterMs: 1 })
      return decisionOn(request)
    })
    await withServer({ decider, wire: realWire }, async ({ url, key }) => {
      const { code, stdout, stderr } = await ended(oi([file, '--url', url, '--key', key, '--json']))
      t.equal(code, 0, stderr)
      t.match(JSON.parse(stdout), { rows: { answered: count, refused: 0 }, whole: true })
    })
  },
)

t.test('a killed run continues, and ends with the figures of a whole one', async (t) => {
  const dir = t.testdir({ 'rows.jsonl': rows })
  const resume = join(dir, 'run.jsonl')
  const gated = new Gated(20)
  await withServer({ decider: gated.decider, wire: realWire }, async ({ url, key }) => {
    const args = [join(dir, 'rows.jsonl'), '--url', url, '--key', key, '--json']
    const killed = oi([...args, '--resume', resume])
    const done = () => (existsSync(resume) ? readFileSync(resume, 'utf8').split('\n').length : 0)
    // The head, 20 rows, and the text after the last line break.
    await until(() => done() >= 22 && gated.asked.length > 20)
    killed.process.kill('SIGKILL')
    await killed.exited
    // Requests that it had sent may still be on their way.
    const before = await settled(() => gated.asked.length)
    gated.open()

    const resumed = await ended(oi([...args, '--resume', resume]))
    t.equal(resumed.code, 0, resumed.stderr)
    t.equal(gated.asked.length, before + count - 20)
    const whole = await ended(oi([...args, '--concurrency', '1']))
    const figures = (text: string) => {
      const { overall, rows } = JSON.parse(text) as Report
      return [rows, overall.answers, overall.accuracy, overall.brier.toFixed(9)]
    }
    t.strictSame(figures(resumed.stdout), figures(whole.stdout))

    writeFileSync(join(dir, 'rows.jsonl'), rows.replace('state 1', 'state one'))
    const other = await ended(oi([...args, '--resume', resume]))
    t.equal(other.code, 2)
    t.match(other.stderr, /--resume .*another labelled file/)
  })
})

t.test(
  'a table with its questions beside it is measured and goes on like lines of JSON',
  async (t) => {
    const questions = { rain: { type: 'noul', instructions: 'Does it rain?' } }
    const dir = t.testdir({
      'rows.csv': `\ufeffBody;Label\r\n${'"It\r\nrains";yes\r\nIt is dry;no\r\n'.repeat(20)}`,
      'questions.json': JSON.stringify({ questions }),
      'other.json': JSON.stringify({ rain: { type: 'noul', instructions: 'Is it wet?' } }),
    })
    const [file, run] = [join(dir, 'rows.csv'), join(dir, 'run.jsonl')]
    const args = (name: string) => [
      ...[file, ...local, '--questions', join(dir, name), '--state', 'Body', '--resume', run],
      ...['--expected', 'Label', '--json'],
    ]
    const { code, stdout, stderr } = await ended(oi(args('questions.json')))
    t.equal(code, 0, stderr)
    t.match(JSON.parse(stdout), { rows: { inFile: 40, answered: 40 }, overall: { answers: 40 } })
    t.equal((await ended(oi(args('questions.json')))).code, 0)
    const other = await ended(oi(args('other.json')))
    t.equal(other.code, 2)
    t.match(other.stderr, /another labelled file/)
    const alone = await ended(oi([file, ...local, '--state', 'Body']))
    t.match(alone, { code: 2, stderr: /--state and --expected need --questions/ })
    const wrong = await ended(oi([file, ...local, '--questions', join(dir, 'questions.json')]))
    t.match(wrong, { code: 2, stderr: /no column "text" among "Body", "Label"/ })
  },
)

t.test('--against compares with another run over the same rows', async (t) => {
  const dir = t.testdir({ 'rows.jsonl': rows, 'other.jsonl': rows.replace('state 1', 'state one') })
  const [run, html] = [join(dir, 'run.jsonl'), join(dir, 'report.html')]
  t.equal((await ended(oi([join(dir, 'rows.jsonl'), ...local, '--resume', run]))).code, 0)
  const kept = readFileSync(run, 'utf8')
  await withServer(
    { decider: stubDecider(async (asked) => decisionOn(asked)), wire: realWire },
    async (at) => {
      const server = ['--url', at.url, '--key', at.key, '--against']
      const args = [join(dir, 'rows.jsonl'), ...server, run]
      const { code, stdout, stderr } = await ended(oi([...args, '--html', html]))
      t.equal(code, 0, stderr)
      t.match(
        stdout,
        /Against .*run\.jsonl \(fake\): 120 answers of both\n +here +there +difference +95 %\naccuracy /,
      )
      t.match(stdout, /right here alone \d+, there alone \d+; by chance .*\(McNemar\)/)
      t.match(
        readFileSync(html, 'utf8'),
        /<h2>Against fake<\/h2>[^]*<h3>Answers that one of them has right/,
      )
      const { against, overall } = JSON.parse(
        (await ended(oi([...args, '--json']))).stdout,
      ) as Report
      t.equal(against!.accuracy.here, overall.accuracy)
      for (const [file, other, reason] of [
        ['other.jsonl', run, /--against .*another labelled file/],
        ['rows.jsonl', join(dir, 'rows.jsonl'), /--against .*not a file of oi eval/],
        ['rows.jsonl', join(dir, 'none.jsonl'), /--against: ENOENT/],
      ] as const) {
        const refused = await ended(oi([join(dir, file), ...server, other]))
        t.equal(refused.code, 2)
        t.match(refused.stderr, reason)
      }
    },
  )
  t.equal(readFileSync(run, 'utf8'), kept)
})

t.test('Ctrl-C ends the run with the figures so far', async (t) => {
  const file = join(t.testdir({ 'rows.jsonl': rows }), 'rows.jsonl')
  const gated = new Gated(20)
  await withServer({ decider: gated.decider, wire: realWire }, async ({ url, key }) => {
    const command = oi([file, '--url', url, '--key', key, '--json', '--concurrency', '2'])
    await until(() => gated.asked.length > 21)
    command.process.kill('SIGINT')
    const { code, stdout, stderr } = await ended(command)
    t.equal(code, 1)
    t.match(JSON.parse(stdout), { whole: false, rows: { answered: 20 } })
    t.match(stderr, /Ended early: 20 of 40 rows/)
    gated.open()
  })
})

t.test('rows that the model refuses are named, and end the command with 1', async (t) => {
  const file = join(t.testdir({ 'rows.jsonl': rows }), 'rows.jsonl')
  const decider = stubDecider(async (request) => {
    if (request.state !== 'state 7') return decisionOn(request)
    throw new OiError('ERR_STATE_TOO_LONG', 'state: expected less', { param: 'state' })
  })
  await withServer({ decider, wire: realWire }, async ({ url, key }) => {
    const { code, stdout } = await ended(oi([file, '--url', url, '--key', key]))
    t.equal(code, 1)
    t.match(stdout, /39 of 40 rows, 1 refused, 117 answers/)
    t.match(stdout, /^refused: line 8: state: expected less$/m)
  })
})

for (const [title, args, code, message] of [
  ['no file', [], 2, /missing required argument 'file'/],
  ['a file that is not there', ['nowhere.jsonl', ...local], 2, /nowhere.jsonl: there is no such/],
  ['no row', ['EMPTY', ...local], 2, /expected at least one row/],
  ['a bad line', ['BAD', ...local], 1, /^oi: line 1: questions: expected/m],
  ['an option that is nowhere', ['ROWS', ...local, '--other', 'Blue'], 2, /has the option "Blue"/],
  ['no concurrency', ['BAD', '--concurrency', '0'], 2, /whole number from 1 to 256/],
  ['a model and a server', ['BAD', ...local, '--url', 'http://a', '--key', 'k'], 2, /leave out/],
  ['no key', ['BAD', '--url', 'http://a'], 2, /--url needs a key/],
  ['rows nowhere', ['BAD', ...local, '--rows-out', 'nowhere/x'], 2, /--rows-out: ENOENT/],
  ['a page nowhere', ['BAD', ...local, '--html', 'nowhere/x.html'], 2, /--html: ENOENT/],
] as const) {
  t.test(`${title} ends the command before a model is loaded`, async (t) => {
    const dir = t.testdir({ EMPTY: '\n', BAD: '{"state":1}\n', ROWS: rows })
    const inDir = args.map((arg) => (/^[A-Z]+$/.test(arg) ? join(dir, arg) : arg))
    const result = await ended(oi(inDir))
    t.equal(result.code, code)
    t.match(result.stderr, message)
    t.notMatch(result.stderr, 'Model closed')
    t.equal(result.stdout, '')
  })
}
