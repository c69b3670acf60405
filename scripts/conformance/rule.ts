/**
 * A rule of the contract as data: its section, its promise, and its check.
 *
 * Rules are independent: each may be run alone, and in any order.
 *
 * @module
 */

import type { Context } from './context.js'
import { Skipped } from './expect.js'

/** @throws Failure if the rule is broken, {@link Skipped} if it cannot be checked here. */
export type Check = (context: Context) => Promise<void>

export interface Rule {
  /** As `2.1` of service-interface, or `decisions/Batch`. */
  readonly section: string
  /** As `state: null is refused with 422`. */
  readonly name: string
  readonly check: Check
}

export interface Result {
  /** Section and name. */
  readonly rule: string
  readonly outcome: 'pass' | 'FAIL' | 'skipped'
  /** What was seen, or why it was skipped; empty if it passed. */
  readonly seen: string
}

/** The rules of one section: name -> check. */
export function section(name: string, checks: Readonly<Record<string, Check>>): readonly Rule[] {
  return Object.entries(checks).map(([rule, check]) => ({ section: name, name: rule, check }))
}

/** Checks them one after another. @param onResult - Called with each result at once. */
export async function runRules(
  rules: readonly Rule[],
  context: Context,
  onResult: (result: Result) => void = () => {},
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const rule of rules) {
    const result = { rule: `${rule.section} ${rule.name}`, ...(await outcomeOf(rule, context)) }
    results.push(result)
    onResult(result)
  }
  return results
}

async function outcomeOf(rule: Rule, context: Context): Promise<Omit<Result, 'rule'>> {
  try {
    await rule.check(context)
    return { outcome: 'pass', seen: '' }
  } catch (error) {
    // Also a TypeError: the server sent something of an unexpected form.
    const { message } = error as Error
    return { outcome: error instanceof Skipped ? 'skipped' : 'FAIL', seen: message }
  }
}
