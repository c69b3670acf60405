/**
 * A reply in parts that is compressed as one stream: each part can be read as soon as it is there.
 *
 * Rules
 *   1. Parts that come while others are being compressed are compressed together.
 *   2. What waits here is as bounded as what waits for the client: `write()` tells of both.
 *   3. Once it is dropped, nothing is handed on any more.
 *
 * @module
 */

import type { Transform } from 'node:stream'
import type { ReplyCoding } from './reply-coding.js'

/** Characters that may wait to be compressed: some milliseconds' work. */
const mostWaiting = 262_144

export interface CodedPartsOptions {
  readonly coding: ReplyCoding
  /** @returns False if the client does not keep up. */
  readonly give: (bytes: Uint8Array) => boolean
  /** Called when `write()` has returned false and more is welcome again. */
  readonly onWritable: () => void
  /** Called when no more can be compressed. */
  readonly lost: () => void
}

export class CodedParts {
  readonly #options: CodedPartsOptions
  readonly #stream: Transform
  #waiting = ''
  #busy = false
  #blocked = false
  #behind = false
  #done: (() => void) | undefined
  #dropped = false

  constructor(options: CodedPartsOptions) {
    this.#options = options
    this.#stream = options.coding.createStream()
    this.#stream.on('data', (bytes: Uint8Array) => {
      if (!this.#dropped && !options.give(bytes)) this.#blocked = true
    })
    // Without memory for it, say: what has been given is all that there is.
    this.#stream.on('error', () => {
      if (!this.#dropped) options.lost()
    })
    this.#stream.once('end', () => {
      if (!this.#dropped) this.#done?.()
    })
  }

  /** @returns As `Client.write`. */
  write(text: string): boolean {
    if (this.#done !== undefined) return true
    this.#waiting += text
    if (!this.#busy) this.#compress()
    this.#behind = this.#isBehind
    return !this.#behind
  }

  /** The client takes more. */
  resume(): void {
    this.#blocked = false
    this.#tell()
  }

  /** @param done - Called when all has been given. */
  end(done: () => void): void {
    this.#done = done
    if (!this.#busy) this.#compress()
  }

  /** Nobody waits for it any more. */
  drop(): void {
    this.#dropped = true
    this.#stream.destroy()
  }

  get #isBehind(): boolean {
    return this.#blocked || this.#waiting.length > mostWaiting
  }

  #compress(): void {
    const text = this.#waiting
    this.#waiting = ''
    if (text === '') {
      if (this.#done !== undefined) this.#stream.end()
      return
    }
    this.#busy = true
    this.#stream.write(text, () => {
      this.#busy = false
      if (this.#dropped) return
      this.#compress()
      this.#tell()
    })
  }

  #tell(): void {
    if (!this.#behind || this.#isBehind) return
    this.#behind = false
    this.#options.onWritable()
  }
}
