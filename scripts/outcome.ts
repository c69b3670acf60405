/**
 * A program's end, with what it wrote.
 *
 * @module
 */

import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable } from 'node:stream'

export type Program = ChildProcessByStdio<null, Readable, Readable>

export interface Outcome {
  /** The exit code, or the signal that ended it. */
  readonly status: number | NodeJS.Signals | null
  readonly stdout: string
  /** Standard output and standard error. */
  readonly output: string
}

/** @param echo - Called with every piece of its output. @throws If it cannot be started. */
export async function outcomeOf(
  child: Program,
  echo: (text: string) => void = () => {},
): Promise<Outcome> {
  let [stdout, output] = ['', '']
  child.stdout.on('data', (data) => (stdout += data))
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      echo(text)
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ status: code ?? signal, stdout, output }))
  })
}
