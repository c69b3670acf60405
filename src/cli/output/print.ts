/**
 * What commands print. All of it leaves before the process ends, however slowly it is read.
 *
 * Whoever reads may stop reading, as `head` does: a broken pipe ends no command, as files may
 * still be left to write, and is no failure. Any other error of standard output is one. Errors of
 * standard error are passed over, since there is nobody to tell.
 *
 * @module
 */

import { type Sink, sinkOf, type StandardStream } from './sink.js'

/** How long the end of a command waits for whoever reads its errors, milliseconds. */
const errorsMs = 2000

/** Everything that is written, in order, until the first error. */
class Printer {
  readonly #fd: StandardStream
  #sink: Sink | undefined
  #last: Promise<void> = Promise.resolve()
  #error: Error | undefined

  constructor(fd: StandardStream) {
    this.#fd = fd
  }

  write(text: string): void {
    this.#last = this.#last.then(() => this.#write(text))
  }

  /** @returns The first error. */
  async ended(): Promise<NodeJS.ErrnoException | undefined> {
    await this.#last
    return this.#error
  }

  #write(text: string): Promise<void> | undefined {
    if (this.#error !== undefined) return undefined
    this.#sink ??= sinkOf(this.#fd)
    const sink = this.#sink
    return new Promise((resolve) => {
      sink.write(Buffer.from(text), (error) => {
        if (error) this.#error = error
        resolve()
      })
    })
  }
}

const output = new Printer(1)
const errors = new Printer(2)

/** Prints on standard output. */
export function print(text: string): void {
  output.write(text)
}

/** Prints on standard error. */
export function printError(text: string): void {
  errors.write(text)
}

/**
 * Waits until everything has left.
 *
 * @returns False if standard output could not be written, which standard error then says.
 */
export async function printed(): Promise<boolean> {
  const error = await output.ended()
  const failed = error !== undefined && error.code !== 'EPIPE'
  if (failed) printError(`oi: standard output cannot be written: ${error.message}\n`)
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise((resolve) => (timer = setTimeout(resolve, errorsMs)))
  await Promise.race([errors.ended(), limit])
  clearTimeout(timer)
  return !failed
}
