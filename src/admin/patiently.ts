/**
 * Changes the accounts while others write to them: the event loop may not wait for a lock, so the
 * call is tried again.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { isBusyError } from '../accounts/store/store-errors.js'

const [mostTries, pauseMs] = [100, 20]

/**
 * @param call - Called again while the accounts are locked, for two seconds; it has done nothing
 *   then.
 * @throws The error of the last call.
 */
export async function patiently<T>(call: () => T): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return call()
    } catch (error) {
      if (tries === mostTries || !isBusyError(error)) throw error
      await sleep(pauseMs)
    }
  }
}
