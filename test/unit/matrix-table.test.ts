/** The table of the matrix: a check that did not run never looks like one that passed. */
import t from 'tap'
import { type Result, type Results, steps } from '../../scripts/matrix/checks.js'
import { allPassed, type Row, summaryOf, tableOf } from '../../scripts/matrix/table.js'

const passed: Result = { state: 'passed', text: 'yes' }
const fallback: Result = { state: 'passed', text: 'node:http', reason: 'no binary' }

function row(node: string, results: Partial<Results> = {}): Row {
  const all = Object.fromEntries(steps.map((step) => [step, passed])) as Results
  return { debian: '12.11', node, results: { ...all, ...results } }
}

t.test('a reason of several cells is printed once, below', async (t) => {
  const table = tableOf([row('22.1.0', { serve: fallback }), row('24.1.0', { serve: fallback })])
  t.equal(table.split('node:http (1)').length, 3)
  t.match(table, /\n\n1\. no binary$/)
})

t.test('one check that failed, or did not run, fails the whole', async (t) => {
  const notRun: Result = { state: 'not run', text: 'not run', reason: 'no compiler' }
  const failed: Result = { state: 'failed', text: 'failed', reason: 'status 1' }
  t.ok(allPassed([row('20.1.0'), row('22.1.0', { serve: fallback })]))
  for (const result of [notRun, failed]) t.notOk(allPassed([row('20.1.0', { ask: result })]))
  const rows = [row('20.1.0', { ask: notRun }), row('22.1.0', { serve: failed })]
  t.equal(summaryOf(rows), '8 passed, 1 failed, 1 not run')
  t.match(tableOf(rows), /not run \(1\).*\n.*failed \(2\).*\n\n1\. no compiler\n2\. status 1$/)
})
