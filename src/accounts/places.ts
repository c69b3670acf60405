/**
 * Places for requests at the same time: so many for each workspace, so many for all of them, and
 * lines of those that wait for one.
 *
 * Rules
 *   1. Within a workspace, whoever came first is first: nobody overtakes those that wait.
 *   2. What all share goes to the workspace that has the least of it; of two that have as much,
 *      to the one that has been without for longer. So one that asks for much never keeps out one
 *      that asks for little.
 *   3. A line is bounded, in length and in time. Those that are patient (the next item of a batch,
 *      of which each batch has one) wait as long as it takes, and are not counted.
 *
 * @module
 */

import { counted } from '../api/words.js'
import { OiError } from '../errors.js'

/** How many may wait for a place, for each place that there is. */
const waitingPerPlace = 4
/** The weight of the newest interval in the mean. */
const weight = 1 / 8

export interface PlacesOptions {
  /** Places of all workspaces together. Default: any number. */
  readonly total?: number | undefined
  /** How long a request may wait for one, milliseconds. Default 10,000. */
  readonly waitMs?: number | undefined
  /** Milliseconds on a clock that never goes back. `performance.now` by default. */
  readonly now?: (() => number) | undefined
}

export interface Entrance {
  /** Given up when it is aborted. */
  readonly signal?: Departure | undefined
  /** Rule 3. */
  readonly patient?: boolean | undefined
}

/** What is needed of an AbortSignal. */
export interface Departure {
  readonly aborted: boolean
  readonly reason?: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

interface Waiting {
  readonly patient: boolean
  readonly admit: () => void
}

/** A workspace that has asked. */
interface Room {
  /** 0: any number. */
  limit: number
  taken: number
  /** In the order of their arrival. */
  readonly line: Set<Waiting>
  /** Those in line that are not patient. */
  impatient: number
  /** The mean time between two departures while places were taken, once there were any. */
  intervalMs: number | undefined
  /** When the current interval began: the last departure, or the arrival that ended an idle time. */
  sinceMs: number
}

export class Places {
  #total: number
  #waitMs: number
  readonly #now: () => number
  readonly #rooms = new Map<number, Room>()
  /** Those with somebody in line; whoever got a place last is last (rule 2). */
  readonly #lines = new Set<Room>()
  #taken = 0

  constructor({ total = Infinity, waitMs = 10_000, now = () => performance.now() }: PlacesOptions) {
    this.#total = total
    this.#waitMs = waitMs
    this.#now = now
  }

  /** Other bounds from now on: who waits already waits as long as was said before. */
  adjust({ total, waitMs }: { readonly total: number; readonly waitMs: number }): void {
    this.#total = total
    this.#waitMs = waitMs
    this.#admit()
  }

  /** How many places a workspace has taken. */
  taken(workspaceId: number): number {
    return this.#rooms.get(workspaceId)?.taken ?? 0
  }

  /** How many of a workspace wait for one. */
  waiting(workspaceId: number): number {
    return this.#rooms.get(workspaceId)?.line.size ?? 0
  }

  /** How many of all workspaces wait for one. */
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
   * @param limit - How many the workspace may take; 0: any number.
   * @returns Undefined if it is taken; else a promise that resolves when it is. It rejects with
   *   what `enter` throws if the wait is over, and with the reason of the signal.
   * @throws {@link OiError} `ERR_CONCURRENCY` if too many wait already for one of the workspace's
   *   own places, `ERR_OVERLOADED` if they wait for one of those that all share.
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
    // There may be free places if the limit has just been raised.
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

  /** Gives every free place to somebody in line. */
  #admit(): void {
    while (this.#taken < this.#total) {
      let next: Room | undefined
      for (const room of this.#lines) {
        if (this.#isFree(room) && (next === undefined || room.taken < next.taken)) next = room
      }
      if (next === undefined) return
      this.#take(next)
      // Behind the others of its kind (rule 2).
      this.#lines.delete(next)
      this.#lines.add(next)
      const [first] = next.line
      first!.admit()
    }
  }

  #refusal(room: Room): OiError {
    const { limit, taken, line, intervalMs } = room
    // Until the line has gone, by the rate of the last departures.
    const details =
      intervalMs === undefined ? {} : { retryAfterMs: Math.max(1, intervalMs * (1 + line.size)) }
    if (limit > 0 && taken >= limit) {
      const message = `The workspace has ${counted(limit, 'request')} under way, its limit, and ${line.size} that wait`
      return new OiError('ERR_CONCURRENCY', message, details)
    }
    const message = `The server has ${counted(this.#taken, 'request')} under way, and ${line.size} of the workspace wait`
    return new OiError('ERR_OVERLOADED', message, details)
  }
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new OiError('ERR_ABORTED', 'The request was cancelled')
}
