/**
 * The server under test: `oi serve` as a process on a permanent data folder, started and stopped
 * again and again.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes } from '../bench/proc.js'
import { command } from '../oi.js'
import { holdsWithin } from '../wait.js'

export interface ServerOptions {
  readonly port: number
  readonly dataDir: string
  /** Flags of `oi serve` besides the port and the data folder. */
  readonly flags: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** A process that ended unasked. @param lastWords - The end of its log. */
  readonly onUnaskedEnd: (how: string, lastWords: string) => void
}

const startLimitMs = 120_000
const keptLogBytes = 16_384

export class Server {
  readonly #options: ServerOptions
  #process: ChildProcess | undefined
  #log = ''
  #asked = false
  /** Times in which it was being stopped or was not there, as `performance.now()`. */
  readonly #absences: { until: number; readonly killed: boolean }[] = []

  constructor(options: ServerOptions) {
    this.#options = options
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  get isRunning(): boolean {
    const child = this.#process
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  /** The end of its output, as far as it was read. */
  get log(): string {
    return this.#log
  }

  async start(): Promise<void> {
    const { port, dataDir, flags, environment } = this.#options
    const args = [command, 'serve', '--port', String(port), '--data-dir', dataDir, ...flags]
    const child = spawn(process.execPath, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#process = child
    this.#asked = false
    this.#log = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#log = (this.#log + text).slice(-keptLogBytes)
      })
    }
    let ended = false
    child.once('exit', (code, signal) => {
      ended = true
      if (!this.#asked) this.#options.onUnaskedEnd(`${signal ?? code}`, this.#log)
    })
    const isOver = async () => ended || (await this.isReady())
    if (!(await holdsWithin(startLimitMs, isOver)) || ended) {
      throw new Error(`It did not start:\n${this.#log}`)
    }
    const absence = this.#absences.at(-1)
    if (absence !== undefined) absence.until = performance.now()
  }

  /** Whether it was not there at some moment since then. */
  wasAway(sinceMs: number): boolean {
    return this.#absences.some(({ until }) => until > sinceMs)
  }

  /** Whether it was ended without notice since then. */
  wasKilled(sinceMs: number): boolean {
    return this.#absences.some(({ until, killed }) => killed && until > sinceMs)
  }

  /**
   * Asked over HTTP: its log may be lost at any moment.
   *
   * @param whole - Whether its accounts must be well too, which may be in trouble at a start.
   */
  async isReady(whole = false): Promise<boolean> {
    try {
      const reply = await fetch(`http://127.0.0.1:${this.#options.port}/readyz`)
      const text = await reply.text()
      return reply.ok || (!whole && text.includes('accounts'))
    } catch {
      return false
    }
  }

  /** Asks it to end. @returns Its exit code or signal, and the time that took. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<{ how: string; ms: number }> {
    const child = this.#process!
    this.#asked = true
    const startMs = performance.now()
    this.#absences.push({ until: Infinity, killed: signal === 'SIGKILL' })
    const exited = this.isRunning ? once(child, 'exit') : []
    child.kill(signal)
    await exited
    const how = String(child.signalCode ?? child.exitCode)
    return { how, ms: performance.now() - startMs }
  }

  /** Stops reading the log for a while: its pipe fills up. */
  async ignoreLog(ms: number): Promise<void> {
    const { stdout, stderr } = this.#process!
    for (const stream of [stdout, stderr]) stream!.pause()
    await sleep(ms)
    for (const stream of [stdout, stderr]) stream!.resume()
  }

  /** Closes the log's reader for the rest of this life. */
  loseLog(): void {
    this.#process!.stdout!.destroy()
    this.#process!.stderr!.destroy()
  }

  /** Resident memory with the models' processes, bytes; undefined without a process. */
  residentBytes(): number | undefined {
    try {
      return residentBytes(this.#process!.pid!)
    } catch {
      return undefined
    }
  }
}
