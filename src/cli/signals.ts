/**
 * Signals that ask to stop: the first asks, the second insists.
 *
 * SIGHUP, where it is listened to: a terminal that is gone asks as SIGTERM does; any other cuts no
 * request, and whoever listens does with it what he likes.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { isatty } from 'node:tty'

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

export interface StopSignals {
  /** Resolves at the first signal. */
  readonly first: Promise<StopSignal>
  /** Gives all signals back their usual meaning. */
  dispose(): void
}

export interface StopOptions {
  /** Told of each SIGHUP that does not ask to stop. Default: SIGHUP ends the process. */
  readonly onHangup?: () => void
}

/**
 * What npm is sent together with its process group, as by Ctrl-C, reaches its child twice: npm
 * passes it on. So much later, milliseconds, it is a second one.
 */
const npmEchoMs = 250

/** @param insist - Called at the second signal and every further one, with the exit code. */
export function listenForStop(
  insist: (code: number) => void,
  { onHangup: tell }: StopOptions = {},
): StopSignals {
  const terminal = [0, 1, 2].find((fd) => isatty(fd))
  const echoMs = isChildOfNpm() ? npmEchoMs : 0
  let askedMs: number | undefined
  let ask: (signal: StopSignal) => void = () => {}
  const first = new Promise<StopSignal>((resolve) => (ask = resolve))
  const onStop = (signal: StopSignal) => {
    const now = performance.now()
    if (askedMs !== undefined && now - askedMs >= echoMs) insist(killedBy(signal))
    askedMs ??= now
    ask(signal)
  }
  const onHangup = () => {
    // Kernel and shell both send it: it never insists.
    if (terminal !== undefined && !isatty(terminal)) ask('SIGHUP')
    else tell?.()
  }
  process.on('SIGINT', onStop)
  process.on('SIGTERM', onStop)
  if (tell !== undefined) process.on('SIGHUP', onHangup)
  return {
    first,
    dispose: () => {
      process.off('SIGINT', onStop)
      process.off('SIGTERM', onStop)
      process.off('SIGHUP', onHangup)
    },
  }
}

/** The exit code that shells give to what a signal has ended. */
export function killedBy(signal: StopSignal): number {
  return 128 + constants.signals[signal]
}

function isChildOfNpm(): boolean {
  try {
    // The title that npm gives itself.
    return readFileSync(`/proc/${process.ppid}/comm`, 'utf8').startsWith('npm')
  } catch {
    return ['start', 'npx'].includes(process.env['npm_lifecycle_event'] ?? '')
  }
}
