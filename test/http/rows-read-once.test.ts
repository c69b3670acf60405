/** Rows, and other input, from what can be read once: as a child process, over a model without weights. */
import t, { type Test } from 'tap'
import { execFileSync, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Report } from '../../src/evaluate/report.js'
import { ended, outcomeOf, RunningCommand } from '../helpers/command.js'
import { rowText } from '../helpers/labelled.js'
import { until } from '../helpers/until.js'

const count = 120
const rows = `${Array.from({ length: count }, (_, i) => rowText(i)).join('\n')}\n`
const model = ['--model', 'fake.gguf']
const oi = (args: readonly string[], input = '') => new RunningCommand(args, 'fake', {}, input)

/** Runs a line of the shell, in which `oi` is the command. */
function shell(t: Test, line: string) {
  const stub = new URL('../fixtures/oi-stub.js', import.meta.url).pathname
  const script = `oi() { "${process.execPath}" "${stub}" "$@"; }; ${line}`
  const env = { ...process.env, OI_TEST_MODEL: 'fake' }
  const cwd = t.testdir({ 'rows.jsonl': rows })
  return outcomeOf(spawn('bash', ['-c', script], { env, cwd }))
}

for (const [title, line] of [
  ['a pipe by its name', 'cat rows.jsonl | oi eval /dev/stdin'],
  ['a pipe as -', 'cat rows.jsonl | oi eval -'],
  ['a redirected file', 'oi eval - < rows.jsonl'],
  ['what a command prints', 'oi eval <(cat rows.jsonl)'],
  ['a FIFO', 'mkfifo rows.fifo; (sleep .3; cat rows.jsonl > rows.fifo) & oi eval rows.fifo'],
] as const) {
  t.test(`oi eval reads ${title} once, and counts every row`, async (t) => {
    const { code, stdout, stderr } = await shell(t, `${line} --model fake.gguf --json`)
    t.equal(code, 0, stderr)
    const { rows, digest } = JSON.parse(stdout) as Report
    t.match(rows, { inFile: count, answered: count, refused: 0 })
    const file = await ended(oi(['eval', join(t.testdirName, 'rows.jsonl'), ...model, '--json']))
    t.equal(digest, (JSON.parse(file.stdout) as Report).digest)
  })
}

t.test('oi calibrate reads rows and saved observations from standard input', async (t) => {
  const out = join(t.testdir(), 'c.json')
  const ran = await ended(oi(['calibrate', '-', ...model, '--out', out, '--force'], rows))
  t.equal(ran.code, 0, ran.stderr)
  t.match(ran.stderr, `${count} of ${count} rows answered\n`)
  t.match(JSON.parse(readFileSync(out, 'utf8')), { data: 'standard input' })
  const seen = { question: 'q', type: 'noul', logits: [0, 1], probabilities: [0.3, 0.7], right: 1 }
  const lines = Array.from({ length: 60 }, (_, i) => JSON.stringify({ ...seen, row: i })).join('\n')
  const saved = await ended(oi(['calibrate', '--observations', '-'], lines))
  t.match(saved, { code: 0, stdout: /answers fitted/ })
})

t.test('a bad line is told before the model is opened, and before a pipe ends', async (t) => {
  for (const command of ['eval', 'calibrate']) {
    const line = `(head -3 rows.jsonl; echo nonsense; exec yes) | oi ${command} - --model fake.gguf`
    const { code, stderr } = await shell(t, line)
    t.equal(code, 1)
    t.match(stderr, /^oi: line 4: body: not valid JSON/)
    t.notMatch(stderr, /Model closed/)
  }
})

const linkOf = (path: string) => {
  try {
    return readlinkSync(path)
  } catch {
    return '' // closed meanwhile
  }
}

t.test('a FIFO that nobody writes to ends with a signal', async (t) => {
  const fifo = join(t.testdir(), 'rows.fifo')
  execFileSync('mkfifo', [fifo])
  for (const args of [
    ['eval', fifo, ...model],
    ['calibrate', fifo, ...model],
    ['ask', '--state-file', fifo, '--noul', 'x', ...model],
  ]) {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const command = oi(args)
      const files = `/proc/${command.process.pid}/fd`
      const opened = () => readdirSync(files).map((file) => linkOf(join(files, file)))
      await until(() => opened().includes(fifo))
      command.process.kill(signal)
      await command.exited
      t.equal(command.process.signalCode, signal)
    }
  }
})

t.test('anything else is refused by what it is', async (t) => {
  const dir = t.testdir({ 'rows.jsonl': rows })
  // A socket's path is short.
  const short = mkdtempSync(join(tmpdir(), 'oi-test-'))
  t.teardown(() => rmSync(short, { recursive: true }))
  const socket = join(short, 'socket')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  t.teardown(() => server.close())
  for (const [path, message] of [
    [dir, `oi: ${dir}: it is a folder\n`],
    [socket, `oi: ${socket}: it is a socket\n`],
    ['/dev/zero', 'oi: /dev/zero: it is a device\n'],
    [`${dir}/none`, `oi: ${dir}/none: there is no such file\n`],
  ]) {
    for (const command of ['eval', 'calibrate']) {
      t.match(await ended(oi([command, path!, ...model])), { code: 2, stderr: message })
    }
  }
  const fifo = join(dir, 'run.fifo')
  execFileSync('mkfifo', [fifo])
  const resumed = oi(['eval', join(dir, 'rows.jsonl'), ...model, '--resume', fifo])
  t.match(await ended(resumed), { code: 2, stderr: `--resume ${fifo}: it is a FIFO` })
})

t.test('standard input is read once', async (t) => {
  const questions = '{"q":{"type":"noul","instructions":"x"}}'
  const asked = await ended(oi(['ask', '-', '--questions', '-', ...model], questions))
  t.match(asked, { code: 2, stderr: /standard input has been read already/ })
})

t.test('nothing stays in the folder of temporary files', async (t) => {
  const kept = () => readdirSync(tmpdir()).filter((name) => name.startsWith('oi-rows-'))
  const before = kept()
  const command = oi(['eval', '-', ...model])
  command.process.kill('SIGKILL')
  await command.exited
  await ended(oi(['eval', '-', ...model], rows))
  t.strictSame(kept(), before)
})
