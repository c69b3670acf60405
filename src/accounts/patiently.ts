/**
 * Tries calls of the accounts again while others write to them: no call may wait for a lock in the
 * event loop of a running server.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { isOverload } from '../errors.js'
import { isBusyError } from './store/store-errors.js'

/**
 * @param call - Called again while the accounts are locked, for two seconds; it has done nothing
 *   then.
 * @throws The error of the last call.
 */
export function patiently<T>(call: () => T): Promise<T> {
  return retried(call, 100, (error) => isBusyError(error) && sleep(20))
}

/**
 * As {@link patiently}, for a start: it may wait for half a minute, for room on the disk too.
 *
 * @param notice - Called once, with the reason of the wait.
 * @param stop - Settles when waiting should end.
 */
export function startPatiently<T>(
  call: () => T,
  notice: (text: string) => void,
  stop: Promise<unknown>,
): Promise<T> {
  let stopped = false
  const onStop = () => (stopped = true)
  void stop.then(onStop, onStop)
  return retried(call, 60, (error, tries) => {
    if (!isOverload(error) || stopped) return false
    if (tries === 1) notice(`${error.message}; trying again`)
    return Promise.race([sleep(500), stop])
  })
}

/** @param pause - Before the next try; false: there is none. */
async function retried<T>(
  call: () => T,
  mostTries: number,
  pause: (error: unknown, tries: number) => Promise<unknown> | false,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return call()
    } catch (error) {
      const pausing = tries < mostTries && pause(error, tries)
      if (pausing === false) throw error
      await pausing
    }
  }
}
