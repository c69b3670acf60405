/**
 * What a start needs of the accounts while somebody has them locked, or their disk is full: it
 * waits, as the event loop of a server that runs must not.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { OiError } from '../../errors.js'

const [mostTries, pauseMs] = [60, 500]

/**
 * Calls until it succeeds or fails for good, half a minute at most.
 *
 * @param notice - Told why it waits, once.
 * @param stop - Settles when there is no need to wait any more.
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
