import t, { type Test } from 'tap'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noStats } from '../../src/engine/stats.js'
import { type Crash, CrashReports, keptReports } from '../../src/runner/crash-report.js'

const crash: Crash = {
  model: 'small/1: "a"',
  end: {
    pid: 4711,
    cause: 'SIGABRT',
    livedMs: 1234.5,
    lastWords: 'first\n\nGGML_ASSERT(false) failed\n',
    stats: { ...noStats(), queuedTokens: 99 },
  },
  inside: [
    {
      ...{ kind: 'score', textLength: 500, questions: 3, workspace: 7 },
      ...{ requestId: 'req_1', ends: 1 },
    },
    {
      ...{ kind: 'count', textLength: 20, questions: 0, workspace: 0 },
      ...{ requestId: undefined, ends: 0 },
    },
  ],
}

const folderOf = (t: Test) => join(t.testdir(), 'crashes')

t.test(
  'a report has the cause, the last output, and the sizes of the requests inside',
  async (t) => {
    const folder = folderOf(t)
    const path = await new CrashReports(folder).write(crash)
    t.equal(path, join(folder, readdirSync(folder)[0]!))
    t.match(path, /Z-small_1_a_-4711\.json$/)
    t.equal(statSync(path).mode & 0o777, 0o600)
    t.equal(statSync(folder).mode & 0o777, 0o700)
    t.match(JSON.parse(readFileSync(path, 'utf8')), {
      ...{ model: crash.model, pid: 4711, cause: 'SIGABRT', livedMs: 1235 },
      time: /^\d{4}-/,
      lastWords: ['first', 'GGML_ASSERT(false) failed'],
      step: { requests: 1, questions: 3, textLength: 500, queuedTokens: 99 },
      insideCount: 2,
      inside: [
        { kind: 'score', requestId: 'req_1', textLength: 500, questions: 3, workspace: 7, ends: 2 },
        { kind: 'count', textLength: 20, ends: 1 },
      ],
    })
  },
)

t.test('the newest reports are kept, and other files stay', async (t) => {
  const folder = folderOf(t)
  const reports = new CrashReports(folder)
  await reports.write(crash)
  writeFileSync(join(folder, 'notes.json'), '')
  const pids = Array.from({ length: keptReports + 5 }, (_, i) => 10_000 + i)
  await Promise.all(pids.map((pid) => reports.write({ ...crash, end: { ...crash.end, pid } })))
  const names = readdirSync(folder)
  t.equal(names.length, keptReports + 1)
  t.ok(names.includes('notes.json'))
  t.ok(names.some((name) => name.endsWith('-10024.json')))
  t.notOk(names.some((name) => name.endsWith('-4711.json')))
})

t.test('of very many requests inside, the report has some and their number', async (t) => {
  const inside = Array.from({ length: 5000 }, () => crash.inside[0]!)
  const path = await new CrashReports(folderOf(t)).write({ ...crash, inside })
  const report = JSON.parse(readFileSync(path, 'utf8')) as { inside: unknown[] }
  t.match(report, { insideCount: 5000 })
  t.ok(report.inside.length < 1000)
})

t.test('a folder that cannot be made rejects, and the next report is tried again', async (t) => {
  const dir = t.testdir({ crashes: 'a file' })
  const reports = new CrashReports(join(dir, 'crashes'))
  await t.rejects(reports.write(crash), { code: 'EEXIST' })
  await t.rejects(reports.write(crash), { code: 'EEXIST' })
})
