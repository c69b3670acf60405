/** Resumed runs of `oi eval`. */
import t, { type Test } from 'tap'
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Journal, type RunIdentity } from '../../src/evaluate/journal.js'
import type { Ask } from '../../src/evaluate/measure.js'
import { Results } from '../../src/evaluate/results.js'
import { runRows } from '../../src/evaluate/run.js'
import { decisionOn, measured, rowTexts, sixtyRows } from '../helpers/labelled.js'
import { createRandom } from '../helpers/random.js'
import { reportOf } from '../helpers/report.js'

const identity = { data: 'sha256:1', models: [{ name: 'made-up' }], flips: true, others: [] }

/** Sums of the same numbers in another order. */
function sameFigures(t: Test, got: Results, wanted: Results): void {
  const rounded = (results: Results) =>
    JSON.parse(
      JSON.stringify(reportOf(results), (key, value: unknown) =>
        typeof value === 'number' && !/latency|seconds|Second/.test(key)
          ? Number(value.toPrecision(12))
          : value,
      ),
    ) as Record<string, unknown>
  const [a, b] = [rounded(got), rounded(wanted)]
  for (const key of ['overall', 'types', 'rows', 'tokens']) t.strictSame(a[key], b[key], key)
}

t.test('an interrupted run continues where it stopped, with the same figures', async (t) => {
  const path = join(t.testdir(), 'journal')
  const wanted = new Results()
  await runRows(sixtyRows(), { ...measured(), onRecord: (record) => wanted.add(record) })

  let asked = 0
  const counting: Ask = async (request) => {
    asked++
    return decisionOn(request)
  }
  const random = createRandom(5)
  let results = new Results()
  for (let run = 0; run < 6; run++) {
    results = new Results()
    const journal = await Journal.open(path, identity, (record) => results.add(record))
    const stop = new AbortController()
    let left = run === 5 ? Infinity : 1 + random.integer(12)
    await runRows(sixtyRows(), {
      ...measured(counting),
      onRecord: (record) => {
        results.add(record)
        journal.append(record)
        if (--left === 0) stop.abort()
      },
      isDone: (line) => journal.has(line),
      signal: stop.signal,
    })
    t.ok(journal.elapsedMs >= 0)
    journal.close()
    // A killed process may leave half a line, which may end within a character.
    if (run < 5) appendFileSync(path, Buffer.from('{"line":59,"refused":"ä').subarray(0, -1))
  }
  sameFigures(t, results, wanted)
  t.ok(asked >= 60 && asked < 60 + 6 * 4, `${asked} requests`)
})

t.test('a journal of other data, another model or other questions is refused', async (t) => {
  const path = join(t.testdir(), 'journal')
  ;(await Journal.open(path, identity, () => {})).close()
  const others: [Partial<RunIdentity>, RegExp][] = [
    [{ data: 'sha256:2' }, /another labelled file/],
    [{ models: [{ name: 'made-up', digest: 'sha256:3' }] }, /another model/],
    [{ flips: false }, /--flips/],
    [{ others: ['blue'] }, /--other/],
  ]
  for (const [changed, message] of others) {
    await t.rejects(Journal.open(path, { ...identity, ...changed }, t.fail), {
      code: 'ERR_CONFIG',
      message,
    })
  }
})

t.test('a file that is not a journal is refused and unchanged', async (t) => {
  const dir = t.testdir({
    a: rowTexts.join('\n'),
    b: 'x',
    c: Buffer.from([0xff, 10]),
    d: '{"a":1}\n',
  })
  for (const name of ['a', 'b', 'c', 'd']) {
    const before = readFileSync(join(dir, name))
    await t.rejects(Journal.open(join(dir, name), identity, t.fail), {
      code: 'ERR_CONFIG',
      message: /this is not a file of oi eval/,
    })
    t.strictSame(readFileSync(join(dir, name)), before)
  }
  await t.rejects(Journal.open(dir, identity, t.fail), { code: 'ERR_CONFIG', message: /--resume/ })
})

t.test('a journal with damage in the middle is refused with its line', async (t) => {
  const path = join(t.testdir(), 'journal')
  const journal = await Journal.open(path, identity, () => {})
  journal.append({ line: 1, refused: 'r' })
  journal.append({ line: 2, refused: 'r' })
  journal.close()
  const whole = readFileSync(path, 'utf8')
  writeFileSync(path, whole.replace('"line":1', '"lime":1'))
  await t.rejects(
    Journal.open(path, identity, () => {}),
    { message: /line 2 is damaged/ },
  )
  writeFileSync(path, whole)
  truncateSync(path, whole.length - 3)
  const lines: number[] = []
  ;(await Journal.open(path, identity, ({ line }) => lines.push(line))).close()
  t.strictSame(lines, [1])
})
