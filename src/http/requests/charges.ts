/**
 * What a request is charged: nothing if it repeats one that was charged before.
 *
 * Rules
 *   1. With `Idempotency-Key`, the accounts know it (accounts/ledger/retry-keys.ts).
 *   2. Without, a request that its client calls a repetition (`x-typesafe-retry-count`) is one if
 *      its key, path and body are those of an answer that was charged in the last five minutes and
 *      did not reach its client whole. That is known to this process alone.
 *   3. Each answer that was lost makes one repetition free. If that is lost too, the next one is.
 *   4. A repetition may come before what it repeats is answered, or known to be lost: whichever of
 *      the two is booked first is charged, and the other is not.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import type { Caller } from '../../accounts/accounts.js'
import type { Claim, NewRetryKey, RetryKeys } from '../../accounts/ledger/retry-keys.js'
import { Chain, type Membership } from '../../chain.js'
import { OiError } from '../../errors.js'
import { keepLatest } from '../access/keep-latest.js'
import type { Head } from '../contract.js'

/** Whether an answer was charged: 1, or 0 for a repetition. */
const chargedHeader = 'x-oi-charged'

const lostMs = 300_000
/** Answers that were lost, at most; the oldest are forgotten. */
const mostLost = 10_000
/** Bytes of bodies whose replies may not have arrived yet, about. */
const mostHeld = 16 * 2 ** 20

/**
 * By item: true if it is charged, a promise while it is being charged, and false if a repetition
 * was charged in its place.
 */
type Items = (Promise<boolean> | boolean | undefined)[]

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
    return new Charge(this, caller, path, digest, repeats, isKnown)
  }

  claim(workspaceId: number, key: string, request: string): Claim | undefined {
    return this.#keys?.claim(workspaceId, key, request, this.keptMs)
  }

  hold(charge: Charge): Membership {
    const held = this.#held.add(charge)
    this.#heldBytes += charge.bytes
    while (this.#heldBytes > mostHeld && this.#held.first !== charge) this.#held.first!.forget()
    return held
  }

  /** Ends `hold()`; once. */
  release(charge: Charge, held: Membership): void {
    held.leave()
    this.#heldBytes -= charge.bytes
  }

  noteLost(id: string, items: Items): void {
    // What could not be charged after all is not free.
    items.forEach((booked, item) => {
      if (booked instanceof Promise) booked.catch(() => (items[item] = undefined))
    })
    keepLatest(this.#lost, id, { items, untilMs: performance.now() + lostMs }, mostLost)
  }

  lostItems(id: string): Items | undefined {
    const found = this.#lost.get(id)
    if (found === undefined || found.untilMs <= performance.now()) return undefined
    const { items } = found
    return items.length === 0 || items.some((booked) => booked !== false) ? items : undefined
  }
}

/** The parts of a body: its text, and the files beside it. */
type Body = readonly (string | Uint8Array)[]

/** The charge of one request, or of the items of a batch. */
export class Charge {
  /** Whether it may have been charged before; known once the body has been read. */
  readonly mayRepeat: boolean
  readonly #charges: Charges
  readonly #caller: Caller
  readonly #path: string
  readonly #key: string | undefined
  readonly #repeats: boolean
  #body: Body | undefined
  #bytes = 0
  #held: Membership | undefined
  #claim: Claim | undefined
  /** The items of a request that this one repeats, whose answers were lost. */
  #owed: Items | undefined
  /** Items that were answered and charged, now or before. */
  readonly #items: Items = []
  #charged = false

  /**
   * @param key - A digest of the caller's `Idempotency-Key`; undefined: none.
   * @param repeats - Whether its client calls it a repetition.
   */
  constructor(
    charges: Charges,
    caller: Caller,
    path: string,
    key: string | undefined,
    repeats: boolean,
    mayRepeat: boolean,
  ) {
    this.#charges = charges
    this.#caller = caller
    this.#path = path
    this.#key = key
    this.#repeats = repeats
    this.mayRepeat = mayRepeat
  }

  /** Of the body, about. */
  get bytes(): number {
    return this.#bytes
  }

  /** Notes the body, whole. @throws {@link OiError} `ERR_IDEMPOTENCY_KEY`. */
  read(body: Body): void {
    this.#body = body
    const key = this.#key
    if (key !== undefined)
      this.#claim = this.#charges.claim(this.#caller.workspaceId, key, this.#digest())
    else if (this.#repeats) this.#owed = this.#charges.lostItems(this.#id())
  }

  /** Whether an item was charged before. */
  isFree(item: number): boolean {
    return this.#claim?.isBooked(item) ?? Boolean(this.#owed?.[item])
  }

  /**
   * Charges an item that was answered, unless it has been.
   *
   * @param book - As `Admission.book`.
   * @returns As `Admission.book`.
   */
  book(
    item: number,
    book: (retry?: NewRetryKey) => Promise<boolean> | undefined,
  ): Promise<boolean> | undefined {
    // A repetition was charged before this one, which is lost, had its answer.
    if (this.#items[item] === false) return Promise.resolve(false)
    if (this.#repeats) this.#owed ??= this.#charges.lostItems(this.#id())
    const before = this.#owed?.[item]
    if (before) {
      this.#owed![item] = false
      // If that one could not be charged after all, neither is this one answered.
      const now = Promise.resolve(before).then(() => false)
      this.#items[item] = now
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
    this.#items[item] = booked ?? true
    if (this.#owed !== undefined) this.#owed[item] = false
    return booked
  }

  /** The header of an answer, if the request has a key or repeats another. */
  headers(charged = this.#charged): readonly string[] {
    if (this.#key === undefined && this.#owed === undefined) return []
    return [chargedHeader, charged ? '1' : '0']
  }

  /** The request has ended. @param status - Of its reply; 0 if the client had gone before it. */
  end(status: number): void {
    this.#claim?.release()
    // Of one that is lost now, an item may still be booked.
    if (status === 0) return
    if (status !== 200 || this.#key !== undefined || this.#body === undefined) {
      this.#body = undefined
      return
    }
    for (const part of this.#body) this.#bytes += part.length
    this.#held = this.#charges.hold(this)
  }

  /** The reply did not reach the client whole. */
  lose(): void {
    if (this.#key !== undefined || this.#body === undefined) return
    this.#charges.noteLost(this.#id(), this.#items)
    this.forget()
  }

  /** The reply has arrived, or nobody asks any more whether it has. */
  forget(): void {
    this.#body = undefined
    if (this.#held === undefined) return
    this.#charges.release(this, this.#held)
    this.#held = undefined
  }

  #digest(): string {
    return digestOf([this.#path, ...(this.#body ?? [])])
  }

  #id(): string {
    return `${this.#caller.workspaceId} ${this.#caller.keyId} ${this.#digest()}`
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
