/**
 * A labelled file of any length in bounded memory: the lines are made while they are read.
 */
import t from 'tap'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Decision } from '../../src/decide/types.js'
import { measureRow } from '../../src/evaluate/measure.js'
import { Results } from '../../src/evaluate/results.js'
import { rowsOf } from '../../src/evaluate/rows/rows.js'
import { runRows } from '../../src/evaluate/run.js'
import { limits } from '../helpers/labelled.js'
import { reportOf } from '../helpers/report.js'
import { decision } from '../helpers/stub.js'

const count = 120_000
const linesPerPiece = 1000

// Under tap, node has no flag of its own for this.
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
/** One collection may leave what was compiled, or weakly held, to the next one. */
const heapInUse = () =>
  Math.min(
    ...Array.from({ length: 4 }, () => {
      collect()
      return process.memoryUsage().heapUsed
    }),
  )

t.test('120,000 rows leave no more memory in use than 60,000', async (t) => {
  // Names of questions and pairs of options have no bound of their own.
  async function* pieces() {
    for (let at = 0; at < count; at += linesPerPiece) {
      const lines = Array.from({ length: linesPerPiece }, (_, i) => line(at + i))
      yield Buffer.from(lines.join(''))
    }
  }
  const results = new Results()
  let after60k = 0
  await runRows(rowsOf(pieces(), limits), {
    concurrency: 16,
    measure: (row, signal) =>
      measureRow(
        row,
        { ask: async () => decisionOf(row.line), flips: false, maxQuestions: 9 },
        signal,
      ),
    onRecord: (record) => {
      results.add(record)
      if (results.rows !== 60_000) return
      after60k = heapInUse()
    },
  })
  const grown = heapInUse() - after60k
  const report = reportOf(results)
  t.equal(report.rows.answered, count)
  t.equal(report.overall.answers, count)
  t.equal(report.questions.length, 1000)
  t.equal(report.answersOfFurtherQuestions, count - 1000)
  t.equal(report.mistakesNotToldApart, count - 50_000)
  t.ok(grown < 4 * 2 ** 20, `${(grown / 2 ** 20).toFixed(1)} MiB more`)
})

/** Each has its own names, and a wrong answer. */
function line(i: number): string {
  const criteria = `{"a":null,"b":null}`
  return (
    `{"state":"state ${i}","questions":{"q${i}":{"type":"choice","criteria":${criteria}}},` +
    `"expected":{"q${i}":"a"}}\n`
  )
}

function decisionOf(number: number): Decision {
  const evidence = { label_mass: 0.5, logits: [0, 1], temperature: 1 }
  const probabilities = { a: 0.25, b: 0.75 }
  const answer = { type: 'choice', choice: 'b', probabilities, confidence: 0.5, evidence } as const
  return { ...decision, answers: { [`q${number - 1}`]: answer }, latency_ms: number % 100 }
}
