/**
 * What supervision is given, and what it tells. Types only.
 *
 * @module
 */

import type { Engine } from '../engine/types.js'
import type { RunnerEnd } from './runner-process.js'

/** A call as it may be reported: its size, never its text. */
export interface InsideCall {
  readonly kind: 'score' | 'tokenize' | 'count'
  /** UTF-16 units of its texts. */
  readonly textLength: number
  readonly questions: number
  readonly workspace: number
  /** Ends that it has been inside at. */
  readonly ends: number
}

/** What is told of ends and replacements. None of them may throw. */
export interface SupervisorEvents {
  /** @param inside - What was asked and not answered. */
  ended?(end: RunnerEnd, inside: readonly InsideCall[]): void
  /** @param loadMs - From its start on. */
  replaced?(loadMs: number): void
  /** The engine could not be opened again; another attempt follows. */
  failed?(error: unknown): void
  gaveUp?(call: InsideCall): void
  /** What a process wrote on stderr. By default it is shown if `OI_NATIVE_LOG` is set. */
  said?(text: string): void
}

/** Counted since the engine was opened. */
export interface SupervisorCounts {
  /** Ends by their cause. */
  readonly ends: Readonly<Record<string, number>>
  readonly askedAgain: number
  readonly gaveUp: number
}

/** A process, and the engine in it. */
export interface Runner {
  readonly engine: Engine
  readonly pid: number | undefined
}

/** Opens one. @param onEnd - Told once, if it ends unasked. */
export type OpenRunner = (onEnd: (end: RunnerEnd) => void) => Promise<Runner>
