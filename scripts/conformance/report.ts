/**
 * Results for people: a line per rule, what was seen instead below it, and the counts.
 *
 * @module
 */

import type { Result } from './rule.js'

export function tableOf(results: readonly Result[]): string {
  return results
    .map(({ rule, outcome, seen }) => {
      const below = seen === '' ? '' : `\n         ${seen.replaceAll('\n', '\n         ')}`
      return `${outcome.padEnd(8)} ${rule}${below}`
    })
    .join('\n')
}

/** As `90 passed, 1 failed, 4 skipped`. */
export function countsOf(results: readonly Result[]): string {
  const count = (outcome: Result['outcome']) =>
    results.filter((result) => result.outcome === outcome).length
  return `${count('pass')} passed, ${count('FAIL')} failed, ${count('skipped')} skipped`
}
