/**
 * The output of a server, which must never end, block or slow it.
 *
 * Rules
 *   1. Nothing throws, and nothing waits for a reader.
 *   2. The buffer is bounded. Lines beyond it are lost and counted, and so are lines that could not
 *      be written in two attempts, a second apart: a disk that is full for a moment costs no line.
 *   3. After a loss, a line says how many lines were lost, as soon as lines can be written again.
 *
 * @module
 */

import { type Sink, sinkOf, type StandardStream } from '../terminal/sink.js'

interface LogOutputOptions {
  /** Makes the line about lost lines, without its end. Default: the words alone. */
  readonly notice?: (words: string) => string
  /** Limit of the buffer, bytes. */
  readonly mostBytes?: number
  /** From one failure to the next attempt, milliseconds. */
  readonly retryMs?: number
}

interface Held {
  readonly bytes: Uint8Array
  /**
   * How many lines are lost with it; for a notice the lines that it reports, which are counted
   * already.
   */
  readonly lines: number
  readonly isNotice: boolean
}

/** Bytes of one write: the capacity of a pipe. */
const chunkBytes = 65_536

export class LogOutput {
  readonly #sink: Sink
  readonly #notice: (words: string) => string
  readonly #mostBytes: number
  readonly #retryMs: number
  #held: Held[] = []
  #heldBytes = 0
  /** True until half of the buffer has been written, so that one notice covers many lines. */
  #full = false
  #lost = 0
  /** Lost lines that no notice has reported yet. */
  #untold = 0
  /** Whether the beginning of a line was written and its rest lost. */
  #broken = false
  #writing = false
  #failures = 0
  #retry: NodeJS.Timeout | undefined
  #onIdle: (() => void)[] = []

  constructor(to: StandardStream | Sink, options: LogOutputOptions = {}) {
    const { notice = (words) => words, mostBytes = 1_048_576, retryMs = 1000 } = options
    this.#sink = typeof to === 'number' ? sinkOf(to) : to
    this.#notice = notice
    this.#mostBytes = mostBytes
    this.#retryMs = retryMs
  }

  /** Lines lost so far. */
  get lostLines(): number {
    return this.#lost
  }

  /** @param text - Whole lines, the last line's end included. */
  write(text: string): void {
    const lines = text.split('\n').length - 1
    const bytes = Buffer.from(text)
    if (this.#full || this.#heldBytes + bytes.length > this.#mostBytes) {
      this.#full = this.#heldBytes > this.#mostBytes / 2
      this.#lose({ bytes, lines, isNotice: false })
    } else {
      this.#tellLost()
      this.#hold({ bytes, lines, isNotice: false })
    }
    this.#next()
  }

  /** Resolves when everything has been written or lost, or after `limitMs`. */
  async flush(limitMs: number): Promise<void> {
    // A failed write is retried at once.
    this.#endWait()
    this.#next()
    if (this.#isIdle) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs)
      this.#onIdle.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  get #isIdle(): boolean {
    return !this.#writing && this.#held.length === 0
  }

  #next(): void {
    if (this.#writing || this.#retry !== undefined) return
    if (this.#held.length === 0) this.#tellLost()
    if (this.#held.length === 0) return
    const chunk: Uint8Array[] = []
    for (let i = 0, length = 0; i < this.#held.length && length < chunkBytes; i++) {
      const { bytes } = this.#held[i]!
      chunk.push(bytes)
      length += bytes.length
    }
    this.#writing = true
    const bytes = chunk.length === 1 ? chunk[0]! : Buffer.concat(chunk)
    this.#sink.write(bytes, (error, written) => this.#done(error, written))
  }

  #done(error: Error | null, written: number): void {
    this.#writing = false
    this.#take(written)
    if (error === null) {
      this.#failures = 0
      this.#next()
    } else {
      this.#failures++
      if (this.#failures > 1) this.#dropAll()
      this.#retry = setTimeout(() => {
        this.#endWait()
        this.#next()
      }, this.#retryMs).unref()
    }
    if (this.#isIdle) for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  #endWait(): void {
    clearTimeout(this.#retry)
    this.#retry = undefined
  }

  #hold(held: Held): void {
    this.#held.push(held)
    this.#heldBytes += held.bytes.length
  }

  /** Drops the written bytes, and keeps the rest of a line that was begun. */
  #take(written: number): void {
    this.#heldBytes -= written
    let left = written
    let count = 0
    while (left > 0 && left >= this.#held[count]!.bytes.length) {
      left -= this.#held[count++]!.bytes.length
    }
    this.#held.splice(0, count)
    if (written > 0) this.#broken = left > 0
    if (left > 0) this.#held[0] = { ...this.#held[0]!, bytes: this.#held[0]!.bytes.subarray(left) }
    if (this.#heldBytes <= this.#mostBytes / 2) this.#full = false
  }

  #dropAll(): void {
    for (const held of this.#held.splice(0)) this.#lose(held)
    this.#heldBytes = 0
    this.#full = false
  }

  #lose({ lines, isNotice }: Held): void {
    if (!isNotice) this.#lost += lines
    this.#untold += lines
  }

  #tellLost(): void {
    if (this.#untold === 0) return
    const lines = this.#untold
    this.#untold = 0
    const words = lines === 1 ? '1 line was lost' : `${lines} lines were lost`
    // Behind an unfinished line, start a new one.
    const start = this.#broken && this.#held.length === 0 ? '\n' : ''
    this.#hold({ bytes: Buffer.from(`${start}${this.#notice(words)}\n`), lines, isNotice: true })
  }
}
