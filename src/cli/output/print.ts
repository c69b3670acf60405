/**
 * What commands print. All of it leaves before the process ends, however slowly it is read.
 *
 * Whoever reads may stop reading, as `head` does: a broken pipe ends no command, as files may
 * still be left to write, and is no failure. Any other error of standard output is one. Errors of
 * standard error are passed over, since there is nobody to tell.
 *
 * @module
 */

import { type Sink, sinkOf } from './sink.js'

/** How long the end of a command waits for whoever reads its errors, milliseconds. */
const errorsMs = 2000

let sink: Sink | undefined
/** Of all that was printed so far. */
let last: Promise<void> = Promise.resolve()
let failure: NodeJS.ErrnoException | undefined

/** Prints on standard output. */
export function print(text: string): void {
  last = last.then(() => {
    // Behind the first error nothing is written: the output would have a hole.
    if (failure !== undefined) return undefined
    sink ??= sinkOf(1)
    const { write } = sink
    return new Promise((resolve) => {
      write(Buffer.from(text), (error) => {
        failure = error ?? undefined
        resolve()
      })
    })
  })
}

function passOver(): void {}

/** Prints on standard error. */
export function printError(text: string): void {
  const { stderr } = process
  if (!stderr.listeners('error').includes(passOver)) stderr.on('error', passOver)
  try {
    stderr.write(text)
  } catch {
    // A file on a full disk throws at once.
  }
}

/**
 * Waits until everything has left.
 *
 * @returns False if standard output could not be written, which standard error then says.
 */
export async function printed(): Promise<boolean> {
  await last
  const failed = failure !== undefined && failure.code !== 'EPIPE'
  if (failed) printError(`oi: standard output cannot be written: ${failure!.message}\n`)
  if (process.stderr.writableLength > 0) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, errorsMs)
      process.stderr.write('', () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
  return !failed
}
