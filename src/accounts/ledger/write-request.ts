/**
 * What the writer's thread is asked, and its reply.
 *
 * @module
 */

import type { Packed } from './booking.js'
import type { Kept } from './retry-key-writer.js'
import type { Booked } from './write-bookings.js'

export interface WriteRequest {
  /** The number of the first booking; the others follow. */
  readonly first: number
  readonly bookings: Packed
  /** When keys were last used: id and milliseconds since 1970. */
  readonly used: readonly (readonly [number, number])[]
  /** Writes nothing, and only reports whether the group is in the file. */
  readonly askOnly: boolean
  /** Spools that were written since the last request. */
  readonly spools: readonly string[]
}

export interface WriteReply {
  readonly outcome: 'committed' | 'withdrawn' | 'failed' | 'unknown'
  /** Why not, and whether that is likely to pass in a moment, such as another process' lock. */
  readonly failure?: { readonly reason: string; readonly busy: boolean }
  /** True if the path leads to another file than before, or to none. */
  readonly moved: boolean
  readonly fileBytes: number
  readonly walBytes: number
  /** Spools that are taken in since the last reply, and how many are left. */
  readonly takenIn: readonly string[]
  readonly spoolsLeft: number
  /** Sentences for the operator. */
  readonly notes: readonly string[]
  /** Bookings that could not be made (write-bookings.ts, rule 5). */
  readonly setAside: Booked
  /** Bookings of a committed group that were not made, by their index in it, and why. */
  readonly kept: readonly (readonly [number, Kept])[]
}
