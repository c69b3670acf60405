/**
 * Retries the start's calls of the accounts while they are locked, or their disk is full. A start
 * may wait; the event loop of a running server must not.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { OiError } from '../errors.js'

const [mostTries, pauseMs] = [60, 500]

/**
 * Retries a call until it succeeds or fails for good, for half a minute at most.
 *
 * @param notice - Called once, with the reason of the wait.
 * @param stop - Settles when waiting should end.
 * @throws What the last call throws.
 */
export async function startPatiently<T>(
  call: () => T,
  notice: (text: string) => void,
  stop: Promise<unknown>,
): Promise<T> {
  let stopped = false
  const onStop = () => (stopped = true)
  void stop.then(onStop, onStop)
  for (let tries = 1; ; tries++) {
    try {
      return call()
    } catch (error) {
      const passes = error instanceof OiError && error.code === 'ERR_OVERLOADED'
      if (!passes || stopped || tries === mostTries) throw error
      if (tries === 1) notice(`${error.message}; trying again`)
      await Promise.race([sleep(pauseMs), stop])
    }
  }
}
