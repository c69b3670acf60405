/**
 * Places for concurrent requests: a number per workspace, a number for all workspaces, and queues
 * of requests that wait for one.
 *
 * Rules
 *   1. Within a workspace, first come, first served.
 *   2. A shared place goes to the workspace with the fewest places; on a tie, to the one that has
 *      been without for longer. So a workspace that asks for many places never keeps out one that
 *      asks for few.
 *   3. A queue is bounded, in length and in time. Patient waiters (the next item of a batch, one
 *      per batch) wait as long as it takes, and are not counted.
 *
 * @module
 */

import { counted } from '../../api/words.js'
import { OiError } from '../../errors.js'

/** How many requests may wait, per place. */
const waitingPerPlace = 4
/** The weight of the latest interval in the mean. */
const weight = 1 / 8

interface PlacesOptions {
  /** Places of all workspaces together. Default: unlimited. */
  readonly total?: number | undefined
  /** How long a request may wait for a place, milliseconds. Default 10,000. */
  readonly waitMs?: number | undefined
  /** Milliseconds on a clock that never goes back. `performance.now` by default. */
  readonly now?: (() => number) | undefined
}

export interface Entrance {
  /** Ends the wait when it is aborted. */
  readonly signal?: Departure | undefined
  /** Rule 3. */
  readonly patient?: boolean | undefined
}

/** The part of an AbortSignal that is needed. */
interface Departure {
  readonly aborted: boolean
  readonly reason?: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

interface Waiting {
  readonly patient: boolean
  readonly admit: () => void
}

/** The state of one workspace. */
interface Room {
  /** 0: unlimited. */
  limit: number
  taken: number
  /** In the order of their arrival. */
  readonly line: Set<Waiting>
  /** The number of waiters that are not patient. */
  impatient: number
  /**
   * The mean time between two departures while places were taken; undefined before the first two.
   */
  intervalMs: number | undefined
  /** When the current interval began: the last departure, or the arrival that ended an idle time. */
  sinceMs: number
}

export class Places {
  #total: number
  #waitMs: number
  readonly #now: () => number
  readonly #rooms = new Map<number, Room>()
  /** The workspaces with waiters; the one that got a place last is last (rule 2). */
  readonly #lines = new Set<Room>()
  #taken = 0

  constructor({ total = Infinity, waitMs = 10_000, now = () => performance.now() }: PlacesOptions) {
    this.#total = total
    this.#waitMs = waitMs
    this.#now = now
  }

  /** Applies other bounds; requests that wait already keep their time limit. */
  adjust({ total, waitMs }: { readonly total: number; readonly waitMs: number }): void {
    this.#total = total
    this.#waitMs = waitMs
    this.#admit()
  }

  /** How long a request may wait for a place, milliseconds. */
  get waitMs(): number {
    return this.#waitMs
  }

  /** The number of places that a workspace has taken. */
  taken(workspaceId: number): number {
    return this.#rooms.get(workspaceId)?.taken ?? 0
  }

  /** The number of a workspace's requests that wait. */
  waiting(workspaceId: number): number {
    return this.#rooms.get(workspaceId)?.line.size ?? 0
  }

  /** The number of requests that wait, of all workspaces. */
  get waitingInAll(): number {
    let count = 0
    for (const { line } of this.#lines) count += line.size
    return count
  }

  /**
   * Refuses early what {@link enter} would refuse.
   *
   * @throws {@link OiError} As `enter`.
   */
  requireRoom(workspaceId: number, limit: number): void {
    const room = this.#rooms.get(workspaceId)
    if (room === undefined) return
    room.limit = limit
    if (room.impatient >= this.#longest(room)) throw this.#refusal(room)
  }

  /**
   * Takes a place, or waits for one.
   *
   * @param limit - The workspace's places; 0: unlimited.
   * @returns Undefined if it is taken; else a promise that resolves when it is. It rejects with an
   *   error of `enter` if the wait ends, and with the signal's reason.
   * @throws {@link OiError} `ERR_CONCURRENCY` if too many requests wait for the workspace's own
   *   places, `ERR_OVERLOADED` if they wait for the shared places.
   */
  enter(workspaceId: number, limit: number, entrance: Entrance = {}): Promise<void> | undefined {
    const room = this.#roomOf(workspaceId)
    room.limit = limit
    if (room.line.size === 0 && this.#isFree(room)) {
      this.#take(room)
      return undefined
    }
    const { patient = false, signal } = entrance
    if (!patient && room.impatient >= this.#longest(room)) throw this.#refusal(room)
    const admitted = this.#wait(room, patient, signal)
    // Places may be free if the limit has just been raised.
    this.#admit()
    return admitted
  }

  leave(workspaceId: number): void {
    const room = this.#rooms.get(workspaceId)
    if (room === undefined || room.taken === 0) return
    room.taken--
    this.#taken--
    const nowMs = this.#now()
    const intervalMs = nowMs - room.sinceMs
    room.sinceMs = nowMs
    room.intervalMs ??= intervalMs
    room.intervalMs += weight * (intervalMs - room.intervalMs)
    this.#admit()
  }

  #roomOf(workspaceId: number): Room {
    let room = this.#rooms.get(workspaceId)
    if (room === undefined) {
      room = {
        limit: 0,
        taken: 0,
        line: new Set(),
        impatient: 0,
        intervalMs: undefined,
        sinceMs: 0,
      }
      this.#rooms.set(workspaceId, room)
    }
    return room
  }

  #isFree(room: Room): boolean {
    return this.#taken < this.#total && (room.limit === 0 || room.taken < room.limit)
  }

  #take(room: Room): void {
    if (room.taken++ === 0) room.sinceMs = this.#now()
    this.#taken++
  }

  #longest({ limit }: Room): number {
    return waitingPerPlace * (limit === 0 ? this.#total : Math.min(limit, this.#total))
  }

  #wait(room: Room, patient: boolean, signal: Departure | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        if (!room.line.delete(waiting)) return
        if (!patient) room.impatient--
        if (room.line.size === 0) this.#lines.delete(room)
        settle()
      }
      const waiting: Waiting = { patient, admit: () => end(resolve) }
      const abort = () => end(() => reject(asError(signal?.reason)))
      const timer = patient
        ? undefined
        : setTimeout(() => end(() => reject(this.#refusal(room))), this.#waitMs)
      room.line.add(waiting)
      if (!patient) room.impatient++
      this.#lines.add(room)
      signal?.addEventListener('abort', abort)
      if (signal?.aborted) abort()
    })
  }

  /** Gives every free place to a waiter. */
  #admit(): void {
    while (this.#taken < this.#total) {
      let next: Room | undefined
      for (const room of this.#lines) {
        if (this.#isFree(room) && (next === undefined || room.taken < next.taken)) next = room
      }
      if (next === undefined) return
      this.#take(next)
      // Moves the workspace behind the others (rule 2).
      this.#lines.delete(next)
      this.#lines.add(next)
      const [first] = next.line
      first!.admit()
    }
  }

  #refusal(room: Room): OiError {
    const { limit, taken, line, intervalMs } = room
    // The time until the queue is empty, by the rate of the last departures.
    const details =
      intervalMs === undefined ? {} : { retryAfterMs: Math.max(1, intervalMs * (1 + line.size)) }
    if (limit > 0 && taken >= limit) {
      const message = `The workspace has ${counted(limit, 'request')} under way, its limit, and ${line.size} waiting`
      return new OiError('ERR_CONCURRENCY', message, details)
    }
    const message = `The server has ${counted(this.#taken, 'request')} under way, and ${line.size} of the workspace waiting`
    return new OiError('ERR_OVERLOADED', message, details)
  }
}

/** Why a wait was aborted. */
export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new OiError('ERR_ABORTED', 'The request was cancelled')
}
