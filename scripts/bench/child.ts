/**
 * A child program: starts it, waits for its output, stops it.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { holdsWithin } from '../wait.js'

const defaultStartLimitMs = 120_000
const stopLimitMs = 10_000
/** Kept output; a server's log of a long run must not fill the memory. */
const maxOutput = 65_536

export class Child implements AsyncDisposable {
  readonly #process: ChildProcess
  readonly #name: string
  readonly #ended: Promise<void>
  #output = ''
  #hasEnded = false

  /** @param env - Its whole environment. Default: this process's. */
  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
    this.#name = command
    this.#process = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    for (const stream of [this.#process.stdout!, this.#process.stderr!]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-maxOutput)
      })
    }
    this.#ended = new Promise((resolve) => {
      this.#process.once('close', () => resolve())
      this.#process.once('error', (error) => {
        this.#output += error.message
        resolve()
      })
    })
    void this.#ended.then(() => (this.#hasEnded = true))
  }

  /** Undefined if it could not be started. */
  get pid(): number | undefined {
    return this.#process.pid
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** The last of what it has written. */
  get output(): string {
    return this.#output
  }

  /**
   * The first match in its output.
   *
   * @param startLimitMs - Default two minutes.
   * @throws Error with the output, if the program ends or takes too long before that.
   */
  async match(pattern: RegExp, startLimitMs = defaultStartLimitMs): Promise<RegExpMatchArray> {
    await holdsWithin(startLimitMs, () => pattern.test(this.#output) || this.hasEnded)
    const match = this.#output.match(pattern)
    if (match === null) throw new Error(`${this.#name} did not start:\n${this.#output}`)
    return match
  }

  async stop(): Promise<void> {
    this.#process.kill('SIGTERM')
    const force = setTimeout(() => this.#process.kill('SIGKILL'), stopLimitMs)
    await this.#ended
    clearTimeout(force)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}
