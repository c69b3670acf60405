/**
 * A reply in parts that is compressed as one stream: each part can be read as soon as it arrives.
 *
 * Rules
 *   1. Parts that come while others are being compressed are compressed together.
 *   2. The parts that wait here are bounded like those that wait for the client: `write()` reports
 *      both.
 *   3. After `drop()`, nothing is handed on.
 *
 * @module
 */

import type { Transform } from 'node:stream'
import type { ReplyCoding } from './reply-coding.js'

/** Characters that may wait to be compressed: some milliseconds of work. */
const mostWaiting = 262_144

interface CodedPartsOptions {
  readonly coding: ReplyCoding
  /** @returns False if the client reads too slowly. */
  readonly give: (bytes: Uint8Array) => boolean
  /** Called when parts are welcome again after `write()` has returned false. */
  readonly onWritable: () => void
  /** Called when compressing has failed. */
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
    // An error here is a lack of memory: the reply ends with what has been sent.
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

  /** The client reads again. */
  resume(): void {
    this.#blocked = false
    this.#tell()
  }

  /** @param done - Called when everything has been handed on. */
  end(done: () => void): void {
    this.#done = done
    if (!this.#busy) this.#compress()
  }

  /** The client has gone. */
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
