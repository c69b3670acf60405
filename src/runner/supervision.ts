/**
 * Options and events of supervision. Types only.
 *
 * @module
 */

import type { Engine } from '../engine/types.js'
import type { ProcessUsage } from './process-usage.js'
import type { RunnerEnd } from './runner-process.js'

/** A call as reports show it: its size, never its text. */
export interface InsideCall {
  readonly kind: 'score' | 'tokenize' | 'count'
  /** UTF-16 units of its texts. */
  readonly textLength: number
  readonly questions: number
  readonly workspace: number
  /** The id of its request, if it was given. */
  readonly requestId: string | undefined
  /** How many crashes it was running at. */
  readonly ends: number
}

/** Callbacks for ends and replacements. None may throw. */
export interface SupervisorEvents {
  /** @param inside - The unanswered calls. */
  ended?(end: RunnerEnd, inside: readonly InsideCall[]): void
  /** @param loadMs - Since its start. */
  replaced?(loadMs: number, pid: number | undefined): void
  /** The engine could not be opened again; the next attempt follows after that time. */
  failed?(error: unknown, pauseMs: number): void
  gaveUp?(call: InsideCall): void
  /** Output of a process on stderr. By default it is shown if `OI_NATIVE_LOG` is set. */
  said?(text: string): void
}

/** Counted since the engine was opened. */
export interface SupervisorCounts {
  /** Ends by cause. */
  readonly ends: Readonly<Record<string, number>>
  /** Processes that replaced another. */
  readonly restarts: number
  readonly askedAgain: number
  readonly gaveUp: number
}

/** The state of a model's process. */
export interface RunnerReport extends SupervisorCounts {
  /** Its name. */
  readonly model: string
  /** The number of the replica; undefined if there is only one. */
  readonly replica?: number
  /** False while nothing can answer. */
  readonly ready: boolean
  /** Why not, if it is not for the process. */
  readonly reason?: string | undefined
  /** Milliseconds until a process should be able to answer; 0 if one is. */
  readonly retryAfterMs: number
  /** Pid of the present process, or of the last one. */
  readonly pid: number | undefined
  usage(): ProcessUsage | undefined
}

/** A process and its engine. */
export interface Runner {
  readonly engine: Engine
  readonly pid: number | undefined
}

/**
 * Opens one.
 *
 * @param onEnd - Called once, if it ends unexpectedly.
 * @param signal - Aborted if it is no longer wanted while it loads.
 */
export type OpenRunner = (onEnd: (end: RunnerEnd) => void, signal: AbortSignal) => Promise<Runner>
