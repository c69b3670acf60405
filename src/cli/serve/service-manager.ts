/**
 * What the service manager is told: the protocol of sd_notify(3), which systemd reads.
 *
 * Rules
 *   1. Where `NOTIFY_SOCKET` is not set, nothing happens.
 *   2. The variables are taken out of the environment: what a child said in its own name would be
 *      taken for ours.
 *   3. The event loop pats the watchdog: while it is stuck nobody is answered, so that a restart
 *      is what helps. Engines have a watch of their own, their supervisor's.
 *   4. While models are loaded or requests finish, time is asked for again and again: how long that
 *      takes depends on the models, not on what a unit file says.
 *
 * @module
 */

import { constants } from 'node:os'
import { loadAddon } from '../../engine/native.js'
import type { Environment } from '../dependencies.js'

/** Time that is asked for while something is under way, and how often. */
const [extensionMs, extendEveryMs] = [60_000, 15_000]
/** After how long a full queue is tried again. */
const againMs = 100
/** A period of the watchdog that no event loop can keep. */
const shortestWatchMs = 20

export interface ServiceManagerOptions {
  /** Rule 2. */
  readonly environment: Environment
  /** Told once, a sentence, if nothing reaches the manager. */
  readonly warn: (text: string) => void
}

export class ServiceManager {
  readonly #socket: string
  readonly #warn: (text: string) => void
  readonly #watch: NodeJS.Timeout | undefined
  #extending: NodeJS.Timeout | undefined
  #phase: 'starting' | 'ready' | 'stopping' = 'starting'
  #warned = false

  constructor({ environment, warn }: ServiceManagerOptions) {
    const { NOTIFY_SOCKET: socket = '', WATCHDOG_USEC: usec, WATCHDOG_PID: pid } = environment
    for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete environment[name]
    this.#socket = socket
    this.#warn = warn
    const watchMs = Number(usec) / 1000
    const watched = pid === undefined || pid === String(process.pid)
    if (socket === '' || !watched || !(watchMs >= shortestWatchMs)) return
    // Half of the time, as sd_watchdog_enabled(3) has it.
    this.#watch = setInterval(() => this.#send('WATCHDOG=1'), watchMs / 2).unref()
    this.#send('WATCHDOG=1')
  }

  /** Models are loaded before the first request. @param status - For people. */
  starting(status: string): void {
    this.#extend()
    this.status(status)
  }

  /** All models answer, or do so again. */
  ready(status: string): void {
    if (this.#phase === 'stopping') return
    this.#phase = 'ready'
    this.#stopExtending()
    this.#send('READY=1', statusLine(status))
  }

  /** The settings are read again; {@link ready} follows. Nothing before it has been called once. */
  reloading(): void {
    if (this.#phase !== 'ready') return
    const now = process.hrtime.bigint() / 1000n
    this.#send('RELOADING=1', `MONOTONIC_USEC=${now}`, statusLine('Reading the settings again'))
    this.#extend()
  }

  stopping(): void {
    this.#phase = 'stopping'
    this.#send('STOPPING=1', statusLine('Finishing what runs'))
    this.#extend()
  }

  /** One line for `systemctl status`. */
  status(text: string): void {
    this.#send(statusLine(text))
  }

  dispose(): void {
    clearInterval(this.#watch)
    this.#stopExtending()
  }

  /** Rule 4. */
  #extend(): void {
    const ask = () => this.#send(`EXTEND_TIMEOUT_USEC=${extensionMs * 1000}`)
    this.#extending ??= setInterval(ask, extendEveryMs).unref()
    ask()
  }

  #stopExtending(): void {
    clearInterval(this.#extending)
    this.#extending = undefined
  }

  #send(...lines: readonly string[]): void {
    if (this.#socket === '') return
    const error = loadAddon().sendDatagram(this.#socket, lines.join('\n'))
    if (error === 0) return
    if (error === constants.errno.EAGAIN) {
      // Its queue is full: what is lost could be the one READY that it waits for.
      setTimeout(() => this.#send(...lines), againMs).unref()
      return
    }
    if (this.#warned) return
    this.#warned = true
    this.#warn(`The service manager cannot be told anything: NOTIFY_SOCKET, error ${error}`)
  }
}

/** In one line, whatever a model's name has in it. */
const statusLine = (text: string) => `STATUS=${text.replace(/\s+/g, ' ')}`
