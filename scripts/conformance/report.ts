/**
 * Results for people: one line per rule, and the counts.
 *
 * @module
 */

import Table from 'cli-table3'
import type { Result } from './rule.js'

/** Columns of the table, wide enough for a terminal of 120. */
const widths = [70, 9, 36]

export function tableOf(results: readonly Result[]): string {
  // No colours: the table looks the same in a file.
  const table = new Table({
    head: ['rule', 'result', 'seen'],
    colWidths: widths,
    wordWrap: true,
    style: { head: [], border: [], compact: true },
  })
  for (const { rule, outcome, seen } of results) table.push([rule, outcome, seen])
  return table.toString()
}

/** As `90 passed, 1 failed, 4 skipped`. */
export function countsOf(results: readonly Result[]): string {
  const count = (outcome: Result['outcome']) =>
    results.filter((result) => result.outcome === outcome).length
  return `${count('pass')} passed, ${count('FAIL')} failed, ${count('skipped')} skipped`
}
