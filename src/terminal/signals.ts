/**
 * Signals that ask to stop: the first asks, the second insists.
 *
 * SIGHUP with a listener: if the terminal is gone, it acts as SIGTERM; else the listener handles
 * it, and no request ends.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { isatty } from 'node:tty'

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

interface StopSignals {
  /** Resolves at the first signal. */
  readonly first: Promise<StopSignal>
  /** Restores the default handling of all signals. */
  dispose(): void
}

interface StopOptions {
  /** Called for each SIGHUP that does not ask to stop. Default: SIGHUP ends the process. */
  readonly onHangup?: () => void
}

/**
 * A signal to npm's process group, as by Ctrl-C, reaches the child twice, as npm passes it on. Only
 * after this time, milliseconds, it counts as a second signal.
 */
const npmEchoMs = 250

/** @param insist - Called with the exit code at the second signal and every later one. */
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
    // Kernel and shell both send it, so it never counts as a second signal.
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

/** The exit code of shells for a process that a signal ended. */
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
