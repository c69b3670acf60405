/**
 * SIGINT and SIGTERM: the first asks, the second insists.
 *
 * @module
 */

const stopSignals = ['SIGINT', 'SIGTERM'] as const

export interface StopSignals {
  /** Resolves at the first signal. */
  readonly first: Promise<void>
  /** Gives both signals back their usual meaning. */
  dispose(): void
}

/** @param insist - Called at the second signal and every further one. */
export function listenForStop(insist: () => void): StopSignals {
  let asked = false
  let ask = () => {}
  const first = new Promise<void>((resolve) => (ask = resolve))
  const onSignal = () => {
    if (asked) insist()
    asked = true
    ask()
  }
  for (const signal of stopSignals) process.on(signal, onSignal)
  return {
    first,
    dispose: () => {
      for (const signal of stopSignals) process.off(signal, onSignal)
    },
  }
}
