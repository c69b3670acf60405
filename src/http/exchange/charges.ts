/**
 * What a request is charged: nothing if it repeats one that was charged before.
 *
 * Rules
 *   1. With `Idempotency-Key`, the accounts know it (accounts/retry-keys.ts).
 *   2. Without, a request that its client calls a repetition (`x-typesafe-retry-count`) is one if
 *      its key, path and body are those of an answer that was charged in the last five minutes and
 *      did not reach its client whole. That is known to this process alone.
 *   3. Each answer that was lost makes one repetition free. If that is lost too, the next one is.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import type { Caller } from '../../accounts/accounts.js'
import type { Claim, NewRetryKey, RetryKeys } from '../../accounts/retry-keys.js'
import { Chain } from '../../chain.js'
import { OiError } from '../../errors.js'
import type { Head } from '../transport/head.js'

/** Whether an answer was charged: 1, or 0 for a repetition. */
export const chargedHeader = 'x-oi-charged'

const lostMs = 300_000
/** Answers that were lost, at most; the oldest are forgotten. */
const mostLost = 10_000
/** Bytes of bodies whose replies may not have arrived yet, about. */
const mostHeld = 16 * 2 ** 20

/** Items that are charged, or are being charged. */
type Items = Map<number, Promise<boolean> | undefined>

interface Lost {
  readonly items: Items
  readonly untilMs: number
}

export class Charges {
  /** How long a key counts, milliseconds. */
  keptMs: number
  readonly #keys: Pick<RetryKeys, 'isKnown' | 'claim'> | undefined
  /** By workspace, key, path and body; the oldest first. */
  readonly #lost = new Map<string, Lost>()
  /** Requests that were answered, while their replies may be lost; the oldest first. */
  readonly #held = new Chain<Charge>()
  #heldBytes = 0

  constructor(keys: Pick<RetryKeys, 'isKnown' | 'claim'> | undefined, keptMs: number) {
    this.#keys = keys
    this.keptMs = keptMs
  }

  /** @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` for a malformed key. */
  open(head: Head, caller: Caller, path: string): Charge {
    const key = readKey(head)
    const digest = key === undefined ? undefined : digestOf([key])
    const repeats = digest === undefined && Number(head.getHeader('x-typesafe-retry-count')) >= 1
    const isKnown =
      digest === undefined
        ? repeats && this.#lost.size > 0
        : (this.#keys?.isKnown(caller.workspaceId, digest) ?? false)
    return new Charge(this, { caller, path, key: digest, repeats, mayRepeat: isKnown })
  }

  claim(workspaceId: number, key: string, request: string): Claim | undefined {
    return this.#keys?.claim(workspaceId, key, request, this.keptMs)
  }

  /** @returns Ends that; once. */
  hold(charge: Charge, bytes: number): () => void {
    const leave = this.#held.add(charge)
    this.#heldBytes += bytes
    while (this.#heldBytes > mostHeld && this.#held.first !== charge) this.#held.first!.forget()
    return () => {
      leave()
      this.#heldBytes -= bytes
    }
  }

  noteLost(id: string, items: Items): void {
    this.#lost.delete(id)
    this.#lost.set(id, { items, untilMs: performance.now() + lostMs })
    if (this.#lost.size <= mostLost) return
    for (const oldest of this.#lost.keys()) {
      this.#lost.delete(oldest)
      return
    }
  }

  lostItems(id: string): Items | undefined {
    const found = this.#lost.get(id)
    const counts = found !== undefined && found.items.size > 0 && found.untilMs > performance.now()
    return counts ? found.items : undefined
  }
}

interface Facts {
  readonly caller: Caller
  readonly path: string
  /** A digest of the caller's key; undefined: none. */
  readonly key: string | undefined
  readonly repeats: boolean
  readonly mayRepeat: boolean
}

/** The parts of a body: its text, and the files beside it. */
type Body = readonly (string | Uint8Array)[]

/** The charge of one request, or of the items of a batch. */
export class Charge {
  readonly #charges: Charges
  readonly #facts: Facts
  #body: Body | undefined
  #leave: (() => void) | undefined
  #claim: Claim | undefined
  /** Items that were charged, but whose answers were lost. */
  #owed: Items | undefined
  /** Items that were answered and charged, now or before. */
  readonly #items: Items = new Map()
  #charged = false

  constructor(charges: Charges, facts: Facts) {
    this.#charges = charges
    this.#facts = facts
  }

  /** Whether it may have been charged before; known once the body has been read. */
  get mayRepeat(): boolean {
    return this.#facts.mayRepeat
  }

  /** Notes the body, whole. @throws {@link OiError} `ERR_IDEMPOTENCY_KEY`. */
  read(body: Body): void {
    const { caller, key, repeats } = this.#facts
    this.#body = body
    if (key !== undefined)
      this.#claim = this.#charges.claim(caller.workspaceId, key, this.#digest())
    else if (repeats) this.#owed = this.#charges.lostItems(this.#id())
  }

  /** Whether an item was charged before. */
  isFree(item: number): boolean {
    return this.#claim?.isBooked(item) ?? this.#owed?.has(item) ?? false
  }

  /**
   * Charges an item that was answered, unless it has been.
   *
   * @param book - As `Gate.book`.
   * @returns As `Gate.book`.
   */
  book(
    item: number,
    book: (retry?: NewRetryKey) => Promise<boolean> | undefined,
  ): Promise<boolean> | undefined {
    if (this.#owed?.has(item)) {
      const before = this.#owed.get(item) ?? Promise.resolve(true)
      this.#owed.delete(item)
      // If that one could not be charged after all, neither is this one answered.
      const now = before.then(() => false)
      this.#note(item, now)
      return now
    }
    if (this.#claim !== undefined) {
      const booked = Promise.resolve(this.#claim.book(item, book))
      return booked.then((made) => {
        this.#charged ||= made
        return made
      })
    }
    const booked = book()
    this.#charged = true
    this.#note(item, booked)
    return booked
  }

  #note(item: number, booked: Promise<boolean> | undefined): void {
    this.#items.set(item, booked)
    booked?.catch(() => this.#items.delete(item))
  }

  /** The header of an answer, if the request has a key or repeats another. */
  headers(charged = this.#charged): readonly string[] {
    if (this.#facts.key === undefined && this.#owed === undefined) return []
    return [chargedHeader, charged ? '1' : '0']
  }

  /** The request has ended. @param status - Of its reply; 0 if the client had gone before it. */
  end(status: number): void {
    this.#claim?.release()
    // Of one that is lost now, an item may still be booked.
    if (status === 0) return
    if (status !== 200 || this.#facts.key !== undefined || this.#body === undefined) {
      this.#body = undefined
      return
    }
    const bytes = this.#body.reduce((sum, part) => sum + part.length, 0)
    this.#leave = this.#charges.hold(this, bytes)
  }

  /** The reply did not reach the client whole. */
  lose(): void {
    if (this.#facts.key !== undefined || this.#body === undefined) return
    this.#charges.noteLost(this.#id(), this.#items)
    this.forget()
  }

  /** The reply has arrived, or nobody asks any more whether it has. */
  forget(): void {
    this.#body = undefined
    this.#leave?.()
    this.#leave = undefined
  }

  #digest(): string {
    return digestOf([this.#facts.path, ...(this.#body ?? [])])
  }

  #id(): string {
    const { caller } = this.#facts
    return `${caller.workspaceId} ${caller.keyId} ${this.#digest()}`
  }
}

function readKey(head: Head): string | undefined {
  const key = head.getHeader('idempotency-key')
  if (key === '') return undefined
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key
  throw new OiError(
    'ERR_REQUEST_UNACCEPTABLE',
    'Idempotency-Key: expected 1 to 255 printable ASCII characters',
    { param: 'Idempotency-Key' },
  )
}

/** Of parts, each with its length, so that they cannot run into each other. */
function digestOf(parts: Body): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length} `).update(part)
  return hash.digest('base64url')
}
