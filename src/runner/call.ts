/**
 * One call of an engine, which its supervisor keeps until it is answered.
 *
 * @module
 */

import type { Cancellation, PromptPart, ScoreInput, ScoreOptions } from '../engine/types.js'
import { OiError } from '../errors.js'
import type { InsideCall } from './supervision.js'

export class Call implements InsideCall {
  readonly kind: InsideCall['kind']
  readonly workspace: number
  readonly requestId: string | undefined
  ends = 0
  /** On the clock of `performance.now()`. */
  readonly dueMs: number
  readonly signal: Cancellation | undefined
  readonly #asked: ScoreInput | readonly PromptPart[] | string

  /** @param asked - Measured only on request, which is rare. */
  constructor(
    kind: InsideCall['kind'],
    asked: ScoreInput | readonly PromptPart[] | string,
    { workspace = 0, requestId, deadlineMs = Infinity, signal }: ScoreOptions = {},
  ) {
    this.kind = kind
    this.#asked = asked
    this.workspace = workspace
    this.requestId = requestId
    this.dueMs = performance.now() + deadlineMs
    this.signal = signal
  }

  get textLength(): number {
    if (typeof this.#asked === 'string') return this.#asked.length
    if (!('prefix' in this.#asked)) return lengthOf(this.#asked)
    const { prefix, suffixes } = this.#asked
    return suffixes.reduce((sum, { parts }) => sum + lengthOf(parts), lengthOf(prefix))
  }

  get questions(): number {
    return typeof this.#asked === 'object' && 'prefix' in this.#asked
      ? this.#asked.suffixes.length
      : 0
  }

  get leftMs(): number {
    return Math.max(0, this.dueMs - performance.now())
  }

  /** @throws {@link OiError} If it was aborted, or its deadline has passed. */
  requireWanted(): void {
    if (this.signal?.aborted) throw new OiError('ERR_ABORTED', 'The request was cancelled')
    if (performance.now() < this.dueMs) return
    throw new OiError('ERR_TIMEOUT', 'the request was not answered in its time')
  }
}

const lengthOf = (parts: readonly PromptPart[]) =>
  parts.reduce((sum, { text }) => sum + text.length, 0)
