/**
 * Limits that several nodes keep together, in Valkey or Redis.
 *
 * Rules
 *   1. While the store does not answer, nothing waits for it: each node keeps the limits by itself,
 *      and asks again once a connection stands.
 *   2. A place is a lease: this node renews those that it has, and the store forgets the others.
 *   3. Whatever happens, a request is never refused because of the store itself.
 *
 * @module
 */

import { randomBytes } from 'node:crypto'
import type * as Ioredis from 'ioredis'
import { serverPackage } from '../../../server-package.js'
import { admit, leaseMs, renew } from './scripts.js'

/** What a workspace may; 0: unlimited. */
export interface SharedTerms {
  readonly requestsPerMinute: number
  readonly concurrent: number
}

/** Nothing was refused, or what was. */
type Admitted =
  | { readonly taken: true; readonly used: number; readonly lease: string | undefined }
  | { readonly taken: false; readonly refused: 'minute'; readonly retryAfterMs: number }
  | { readonly taken: false; readonly refused: 'place' }

interface SharedLimitsOptions {
  /** As `redis://user:password@host:6379/0`, `rediss://…`. */
  readonly url: string
  /** Called when the store is lost, and when it is there again. */
  readonly onChange: (up: boolean, why: string) => void
}

/** A store that takes longer has failed: callers do not wait for it. */
const answerMs = 250
const connectMs = 2000
const mostBetweenTriesMs = 1000
const renewEveryMs = leaseMs / 4

interface Scripts {
  oiAdmit(
    ...args: readonly (string | number)[]
  ): Promise<[refused: number, ms: number, used: number]>
  oiRenew(...args: readonly string[]): Promise<unknown>
}

export class SharedLimits {
  readonly #redis: Ioredis.Redis & Scripts
  readonly #node = randomBytes(6).toString('base64url')
  /** The leases of this node, by workspace. */
  readonly #leases = new Map<number, Set<string>>()
  readonly #timer: NodeJS.Timeout
  #count = 0
  /** Undefined until the first connection stands, or failed. */
  #up: boolean | undefined
  #why = ''

  /** Connects in the background. @throws {@link OiError} `ERR_PACKAGE_NOT_FOUND`. */
  constructor({ url, onChange }: SharedLimitsOptions) {
    const { Redis: Client } = serverPackage<typeof Ioredis>('ioredis', '--limits')
    const redis = new Client(url, {
      ...{ connectTimeout: connectMs, commandTimeout: answerMs, enableOfflineQueue: false },
      ...{ maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false },
      retryStrategy: (tries) => Math.min(50 * tries, mostBetweenTriesMs),
      scripts: {
        oiAdmit: { lua: admit, numberOfKeys: 2 },
        oiRenew: { lua: renew, numberOfKeys: 1 },
      },
    })
    this.#redis = redis as Ioredis.Redis & Scripts
    const show = (up: boolean) => {
      if (this.#up === up) return
      this.#up = up
      onChange(up, up ? '' : this.#why)
      if (up) this.#renew()
    }
    // Without a listener an error would end the process.
    redis.on('error', (error: Error) => (this.#why = error.message))
    redis.on('ready', () => show(true))
    redis.on('close', () => show(false))
    this.#timer = setInterval(() => this.#renew(), renewEveryMs).unref()
  }

  /** Whether the store can be asked. */
  get up(): boolean {
    return this.#up === true
  }

  /**
   * Takes a request of the workspace's minute and one of its places, both or none.
   *
   * @returns Undefined if the store does not say (rule 1).
   */
  async admit(workspace: number, terms: SharedTerms): Promise<Admitted | undefined> {
    const { requestsPerMinute, concurrent } = terms
    const id = `${this.#node}.${++this.#count}`
    const keys = [minuteKey(workspace), placeKey(workspace)]
    try {
      const [refused, ms, used] = await this.#redis.oiAdmit(
        ...keys,
        ...[id, requestsPerMinute, concurrent],
      )
      if (refused === 0) {
        if (concurrent === 0) return { taken: true, used, lease: undefined }
        // Not before: to renew one that was refused would take a place.
        this.#leasesOf(workspace).add(id)
        return { taken: true, used, lease: id }
      }
      return refused === 1
        ? { taken: false, refused: 'minute', retryAfterMs: ms }
        : { taken: false, refused: 'place' }
    } catch (error) {
      // The store may have it all the same.
      this.release(workspace, id)
      this.#lost(error)
      return undefined
    }
  }

  /** Gives a place back. Never throws. */
  release(workspace: number, lease: string): void {
    this.#leases.get(workspace)?.delete(lease)
    if (this.#up) this.#redis.zrem(placeKey(workspace), lease).catch((error) => this.#lost(error))
  }

  close(): void {
    clearInterval(this.#timer)
    this.#redis.removeAllListeners('close')
    this.#redis.disconnect()
  }

  #leasesOf(workspace: number): Set<string> {
    const leases = this.#leases.get(workspace) ?? new Set()
    this.#leases.set(workspace, leases)
    return leases
  }

  #renew(): void {
    if (!this.#up) return
    for (const [workspace, leases] of this.#leases) {
      if (leases.size === 0) continue
      this.#redis.oiRenew(placeKey(workspace), ...leases).catch((error) => this.#lost(error))
    }
  }

  /** A connection on which an answer was late or wrong is made anew: rule 1. */
  #lost(error: unknown): void {
    if (!this.#up) return
    this.#why = (error as Error).message
    this.#redis.disconnect(true)
  }
}

/** Braces: both keys are on one machine of a cluster. */
const minuteKey = (workspace: number) => `oi:{${workspace}}:minute`
const placeKey = (workspace: number) => `oi:{${workspace}}:places`
