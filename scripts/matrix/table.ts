/**
 * The results as a table in Markdown, with reasons below it.
 *
 * @module
 */

import { markdownTable } from '../markdown.js'
import { type Result, type Results, steps } from './checks.js'

/** The checks in one place. */
export interface Row {
  /** As `12.11`. */
  readonly debian: string
  readonly node: string
  readonly results: Results
}

const headings = [
  ...['Debian', 'Node', 'Installed in', '`open()`, `decide()`', '`oi ask`'],
  ...['`oi serve`', '`oi serve --transport node`'],
]

/** Equal reasons have one number. */
export function tableOf(rows: readonly Row[]): string {
  const reasons: string[] = []
  const cell = ({ text, reason }: Result) => {
    if (reason === undefined) return text
    // Paths of a run mean nothing to readers.
    const told = reason.replace(/\/\S+\/(?=node_modules\/)/g, '')
    if (!reasons.includes(told)) reasons.push(told)
    return `${text} (${reasons.indexOf(told) + 1})`
  }
  const cells = rows.map(({ debian, node, results }) => [
    ...[debian, node],
    ...steps.map((step) => cell(results[step])),
  ])
  const notes = reasons.map((reason, i) => `${i + 1}. ${reason}`)
  return [markdownTable(headings, cells), ...(notes.length > 0 ? [notes.join('\n')] : [])].join(
    '\n\n',
  )
}

/** How many checks passed, failed and were not run, in words. */
export function summaryOf(rows: readonly Row[]): string {
  const count = (state: Result['state']) => statesOf(rows).filter((one) => one === state).length
  return `${count('passed')} passed, ${count('failed')} failed, ${count('not run')} not run`
}

/** Whether every check was run and passed. */
export function allPassed(rows: readonly Row[]): boolean {
  return statesOf(rows).every((state) => state === 'passed')
}

function statesOf(rows: readonly Row[]): Result['state'][] {
  return rows.flatMap(({ results }) => steps.map((step) => results[step].state))
}
