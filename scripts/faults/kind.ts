/**
 * A kind of fault.
 *
 * @module
 */

import type { Turn } from './clients.js'
import type { World } from './world.js'

export interface Kind {
  /** What it does, for `--help`. */
  readonly says: string
  /** What it needs and this machine lacks. */
  readonly lacks?: () => string | undefined
  /** Called before the first start of the server. */
  readonly prepare: (world: World) => Fault | Promise<Fault>
}

/** A client's turn, and the pause after it, milliseconds. */
export type Client = readonly [turn: Turn, pauseMs: number]

/** A kind of fault in one run; what is not given does nothing. */
export interface Fault {
  /** Clients that misbehave all the time. Called once, when the server is ready. */
  readonly clients?: () => readonly Client[] | Promise<readonly Client[]>
  /** One blow at a time: behind it comes a pause, in which all must be well again. */
  readonly strike?: () => Promise<void>
  /** Adds violations that are known only at the end. @returns Lines of the report. */
  readonly judge?: () => readonly string[]
  /** Called in any case, behind the server's end. */
  readonly end?: () => unknown
}

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}
