/**
 * Progress of a pull: a bar on a terminal, plain lines elsewhere.
 *
 * @module
 */

import { PullMeter } from '../../models/pull/meter.js'
import { checkingText, type PullProgress } from '../../models/pull/pull.js'
import { createProgress, type Progress } from '../../terminal/progress.js'

export class PullDisplay {
  readonly #write: (text: string) => void
  readonly #meter = new PullMeter()
  #progress: Progress | undefined

  /** @param write - Takes whole lines. */
  constructor(write: (text: string) => void) {
    this.#write = write
  }

  show(name: string, progress: PullProgress): void {
    this.#progress ??= createProgress(`Pulling ${name}`, this.#write)
    this.#progress.update(...this.#meter.note(progress))
  }

  /** Shows a note to the user. */
  note(text: string): void {
    this.stop()
    this.#write(`${text}\n`)
  }

  checking(): void {
    this.note(checkingText)
  }

  /** Ends the line. Idempotent. */
  stop(): void {
    this.#progress?.stop()
    this.#progress = undefined
  }
}
