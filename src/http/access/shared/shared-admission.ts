/**
 * Admission of a node among several: what its own admission lets in, the limits that the nodes keep
 * together must let in, too.
 *
 * Rules
 *   1. A node's own admission comes first. So a request that is refused for its own node's sake never
 *      counts for the others.
 *   2. Requests of the minute are taken in common when a request takes its place, one for each item
 *      of a batch.
 *   3. For a place in common a request asks again and again, as long as it may wait for one.
 *
 * @module
 */

import { setTimeout as pause } from 'node:timers/promises'
import type { Caller } from '../../../accounts/accounts.js'
import { OiError } from '../../../errors.js'
import { minuteUsedUp } from '../admission.js'
import { asError, type Entrance } from '../places.js'
import { windowMs } from '../request-window.js'
import { WorkspaceAdmission, type WorkspaceAdmissionOptions } from '../workspace-admission.js'
import type { SharedLimits, SharedTerms } from './shared-limits.js'

/** Between two tries for a place, milliseconds: doubled up to the second. */
const [leastPauseMs, mostPauseMs] = [5, 80]

const remainingRequests = 'x-ratelimit-remaining-requests'

export class SharedAdmission extends WorkspaceAdmission {
  readonly #shared: SharedLimits
  /** Leases of this node's running requests, by workspace: which is whose does not matter. */
  readonly #leases = new Map<number, string[]>()
  /** Requests of the minute that all nodes had taken, and when the store said so. */
  readonly #used = new Map<number, { readonly count: number; readonly atMs: number }>()

  constructor(options: WorkspaceAdmissionOptions, shared: SharedLimits) {
    super(options)
    this.#shared = shared
  }

  override enter(caller: Caller, entrance: Entrance): Promise<void> | undefined {
    const terms = this.termsOf(caller)
    const own = super.enter(caller, entrance)
    const limited = terms.requestsPerMinute > 0 || terms.concurrent > 0
    return limited && this.#shared.up ? this.#enter(caller, terms, entrance, own) : own
  }

  async #enter(
    caller: Caller,
    terms: SharedTerms,
    entrance: Entrance,
    own: Promise<void> | undefined,
  ): Promise<void> {
    await own
    try {
      await this.#admit(caller, terms, entrance)
    } catch (error) {
      super.leave(caller)
      throw error
    }
  }

  async #admit(
    caller: Caller,
    terms: SharedTerms,
    { signal, patient = false }: Entrance,
  ): Promise<void> {
    const { workspaceId } = caller
    const endMs = patient ? Infinity : performance.now() + this.placeWaitMs
    for (let pauseMs = leastPauseMs; ; pauseMs = Math.min(mostPauseMs, 2 * pauseMs)) {
      const admission = await this.#shared.admit(workspaceId, terms)
      if (admission === undefined) return
      if (admission.taken) {
        this.#note(caller, admission.used)
        if (admission.lease !== undefined) this.#leasesOf(workspaceId).push(admission.lease)
        return
      }
      if (admission.refused === 'minute') {
        this.#note(caller, terms.requestsPerMinute)
        throw minuteUsedUp(caller, terms.requestsPerMinute, admission.retryAfterMs)
      }
      if (performance.now() >= endMs) throw placesTaken(terms.concurrent, mostPauseMs)
      await pause(pauseMs * (0.5 + Math.random()))
      if (signal?.aborted) throw asError(signal.reason)
    }
  }

  override leave(caller: Caller): void {
    const lease = this.#leases.get(caller.workspaceId)?.pop()
    if (lease !== undefined) this.#shared.release(caller.workspaceId, lease)
    super.leave(caller)
  }

  override headers(caller: Caller): readonly string[] {
    const headers = super.headers(caller)
    const at = headers.indexOf(remainingRequests)
    const used = this.#used.get(caller.workspaceId)
    const known = used !== undefined && performance.now() - used.atMs < windowMs
    if (at < 0 || !known || !this.#shared.up) return headers
    const left = Math.max(0, this.termsOf(caller).requestsPerMinute - used.count)
    return headers.with(at + 1, String(Math.min(left, Number(headers[at + 1]))))
  }

  #note({ workspaceId }: Caller, count: number): void {
    this.#used.set(workspaceId, { count, atMs: performance.now() })
  }

  shared(): boolean {
    return this.#shared.up
  }

  #leasesOf(workspaceId: number): string[] {
    const leases = this.#leases.get(workspaceId) ?? []
    this.#leases.set(workspaceId, leases)
    return leases
  }
}

function placesTaken(limit: number, retryAfterMs: number): OiError {
  const message = `The workspace has ${limit} requests under way on all nodes, its limit`
  return new OiError('ERR_CONCURRENCY', message, { retryAfterMs })
}
