/**
 * How far a pull is, as a share and in words.
 *
 * @module
 */

import { sizeText } from '../../api/words.js'
import type { PullProgress } from './pull.js'

/** The rate is measured over this time, milliseconds. */
const rateMs = 5000
/** The share for reading the files again to check them. */
const checkShare = 0.05

export class PullMeter {
  #fraction = 0
  #samples: { readonly atMs: number; readonly bytes: number }[] = []

  /** @returns The share, 0 to 1, never falling; and words such as `1.2 GB of 3.4 GB, 20 MB/s`. */
  note({ totalBytes, thereBytes, fetchedBytes, checkedBytes }: PullProgress): [number, string] {
    const whole = Math.max(totalBytes, thereBytes, 1)
    const share = ((1 - checkShare) * thereBytes + checkShare * checkedBytes) / whole
    // It never goes back, even if a download starts over.
    this.#fraction = Math.max(this.#fraction, Math.min(share, 1))
    const of = totalBytes === 0 ? '' : ` of ${sizeText(totalBytes)}`
    return [this.#fraction, `${sizeText(thereBytes)}${of}${this.#rate(fetchedBytes)}`]
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
