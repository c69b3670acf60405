/**
 * One call of an engine, as its supervisor keeps it while it is inside.
 *
 * @module
 */

import type { Cancellation, PromptPart } from '../engine/types.js'
import { OiError } from '../errors.js'
import type { InsideCall } from './supervision.js'

export interface Call extends InsideCall {
  ends: number
  /** On the clock of `performance.now()`. */
  readonly dueMs: number
  readonly signal: Cancellation | undefined
}

export function newCall(
  kind: InsideCall['kind'],
  parts: readonly PromptPart[],
  others: Partial<Pick<Call, 'questions' | 'workspace' | 'dueMs' | 'signal'>> = {},
): Call {
  const textLength = parts.reduce((sum, { text }) => sum + text.length, 0)
  const { questions = 0, workspace = 0, dueMs = Infinity, signal } = others
  return { kind, textLength, questions, workspace, ends: 0, dueMs, signal }
}

/** @throws {@link OiError} If nobody waits for it any more. */
export function requireWanted({ signal, dueMs }: Call): void {
  if (signal?.aborted) throw new OiError('ERR_ABORTED', 'The request was cancelled')
  if (performance.now() < dueMs) return
  throw new OiError('ERR_TIMEOUT', 'the request was not answered in its time')
}
