/**
 * Notifies the service manager, by the protocol of sd_notify(3), which systemd reads.
 *
 * Rules
 *   1. Without `NOTIFY_SOCKET`, nothing happens.
 *   2. The variables are removed from the environment: a child's own notifications would be taken
 *      for ours.
 *   3. The event loop feeds the watchdog: while it is stuck no request is answered, and only a
 *      restart helps. Engines have their own watchdog, their supervisor.
 *   4. While models load or requests finish, more time is requested repeatedly: the time depends on
 *      the models, not on a unit file.
 *
 * @module
 */

import { constants } from 'node:os'
import { loadAddon } from '../engine/native.js'
import type { Environment } from './dependencies.js'

/** The time that is requested while work is in progress, and how often. */
const [extensionMs, extendEveryMs] = [60_000, 15_000]
/** Pause before a retry if the manager's queue is full. */
const againMs = 100
/** No event loop can keep a shorter watchdog period. */
const shortestWatchMs = 20

interface ServiceManagerOptions {
  /** Rule 2. */
  readonly environment: Environment
  /** Called once, with a sentence, if nothing reaches the manager. */
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
    // Half of the time, as sd_watchdog_enabled(3) recommends.
    this.#watch = setInterval(() => this.#send('WATCHDOG=1'), watchMs / 2).unref()
    this.#send('WATCHDOG=1')
  }

  /** The start is in progress. @param status - For people. */
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

  /**
   * The settings are read again; {@link ready} follows. Does nothing before the first `ready()`.
   */
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
      // The manager's queue is full: the lost message could be the READY that it waits for.
      setTimeout(() => this.#send(...lines), againMs).unref()
      return
    }
    if (this.#warned) return
    this.#warned = true
    this.#warn(`The service manager cannot be notified: NOTIFY_SOCKET, error ${error}`)
  }
}

/** On one line, whatever a model's name contains. */
const statusLine = (text: string) => `STATUS=${text.replace(/\s+/g, ' ')}`
