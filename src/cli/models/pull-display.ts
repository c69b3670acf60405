/**
 * Progress of a pull: a bar on a terminal, plain lines elsewhere.
 *
 * @module
 */

import type { PullProgress } from '../../models/pull/pull.js'
import { sizeText } from '../../api/words.js'
import { createProgress, type Progress } from '../../terminal/progress.js'

/** The rate is measured over this time, milliseconds. */
const rateMs = 5000
/** The share of the progress bar for reading the files again to check them. */
const checkShare = 0.05

export class PullDisplay {
  readonly #write: (text: string) => void
  #progress: Progress | undefined
  #fraction = 0
  #samples: { readonly atMs: number; readonly bytes: number }[] = []

  /** @param write - Takes whole lines. */
  constructor(write: (text: string) => void) {
    this.#write = write
  }

  show(name: string, { totalBytes, thereBytes, fetchedBytes, checkedBytes }: PullProgress): void {
    this.#progress ??= createProgress(`Pulling ${name}`, this.#write)
    const whole = Math.max(totalBytes, thereBytes, 1)
    const share = ((1 - checkShare) * thereBytes + checkShare * checkedBytes) / whole
    // The bar never goes back, even if a download starts over.
    this.#fraction = Math.max(this.#fraction, Math.min(share, 1))
    const of = totalBytes === 0 ? '' : ` of ${sizeText(totalBytes)}`
    const rate = this.#rate(fetchedBytes)
    this.#progress.update(this.#fraction, `${sizeText(thereBytes)}${of}${rate}`)
  }

  /** Shows a note to the user. */
  note(text: string): void {
    this.stop()
    this.#write(`${text}\n`)
  }

  checking(): void {
    this.stop()
    this.#write('Loading it once, to check that it answers\n')
  }

  /** Ends the line. Idempotent. */
  stop(): void {
    this.#progress?.stop()
    this.#progress = undefined
  }

  #rate(bytes: number): string {
    const atMs = performance.now()
    const last = this.#samples.at(-1)
    if (last === undefined || atMs - last.atMs > 250) this.#samples.push({ atMs, bytes })
    while (this.#samples.length > 1 && atMs - this.#samples[0]!.atMs > rateMs) this.#samples.shift()
    const first = this.#samples[0]!
    const seconds = (atMs - first.atMs) / 1000
    return seconds < 0.5 ? '' : `, ${sizeText((bytes - first.bytes) / seconds)}/s`
  }
}
