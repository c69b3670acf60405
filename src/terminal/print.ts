/**
 * The output of commands. All of it is written before the process ends, however slow the reader.
 *
 * A reader may stop, as `head` does: a broken pipe is no failure and ends no command, which may
 * have files to write. Any other error of standard output is a failure. Errors of standard error
 * are ignored, as nobody could read about them.
 *
 * @module
 */

import { type Sink, sinkOf } from './sink.js'

/** How long the end of a command waits for the reader of its errors, milliseconds. */
const errorsMs = 2000

let sink: Sink | undefined
/** Settles when everything printed so far has been written. */
let last: Promise<void> = Promise.resolve()
let failure: NodeJS.ErrnoException | undefined

/** Prints on standard output. */
export function print(text: string): void {
  void printNext(text)
}

/**
 * Prints as {@link print}; who waits for it is no faster than the reader.
 *
 * @returns False if it could not be written, as for a reader that has gone.
 */
export async function printNext(text: string): Promise<boolean> {
  last = last.then(() => {
    // After the first error nothing is written: the output would have a gap.
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
  await last
  return failure === undefined
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
 * Waits until everything is written.
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
