/**
 * What supervision is given, and what it tells. Types only.
 *
 * @module
 */

import type { Engine } from '../engine/types.js'
import type { ProcessUsage } from './process-usage.js'
import type { RunnerEnd } from './runner-process.js'

/** A call as it may be reported: its size, never its text. */
export interface InsideCall {
  readonly kind: 'score' | 'tokenize' | 'count'
  /** UTF-16 units of its texts. */
  readonly textLength: number
  readonly questions: number
  readonly workspace: number
  /** Of the request that it belongs to, if that was told. */
  readonly requestId: string | undefined
  /** Ends that it has been inside at. */
  readonly ends: number
}

/** What is told of ends and replacements. None of them may throw. */
export interface SupervisorEvents {
  /** @param inside - What was asked and not answered. */
  ended?(end: RunnerEnd, inside: readonly InsideCall[]): void
  /** @param loadMs - From its start on. */
  replaced?(loadMs: number, pid: number | undefined): void
  /** The engine could not be opened again; another attempt follows after that time. */
  failed?(error: unknown, pauseMs: number): void
  gaveUp?(call: InsideCall): void
  /** What a process wrote on stderr. By default it is shown if `OI_NATIVE_LOG` is set. */
  said?(text: string): void
}

/** Counted since the engine was opened. */
export interface SupervisorCounts {
  /** Ends by their cause. */
  readonly ends: Readonly<Record<string, number>>
  /** Processes that came after one that had ended. */
  readonly restarts: number
  readonly askedAgain: number
  readonly gaveUp: number
}

/** How a model's process stands. */
export interface RunnerReport extends SupervisorCounts {
  /** Its name. */
  readonly model: string
  /** Which of several with the same model; undefined for the only one. */
  readonly replica?: number
  /** False while nothing can answer. */
  readonly ready: boolean
  /** Milliseconds until something should be able to; 0 if it is. */
  readonly retryAfterMs: number
  /** Of the process that there is, or was last. */
  readonly pid: number | undefined
  usage(): ProcessUsage | undefined
}

/** A process, and the engine in it. */
export interface Runner {
  readonly engine: Engine
  readonly pid: number | undefined
}

/**
 * Opens one.
 *
 * @param onEnd - Told once, if it ends unasked.
 * @param signal - Aborted if it is not wanted any more while it loads.
 */
export type OpenRunner = (onEnd: (end: RunnerEnd) => void, signal: AbortSignal) => Promise<Runner>
