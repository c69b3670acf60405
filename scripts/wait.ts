/**
 * Waiting with an end.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Asks again and again whether something holds, at least once.
 *
 * @param limitMs - After this time it is asked no more.
 * @param everyMs - Between two questions.
 * @returns Whether it held in time.
 */
export async function holdsWithin(
  limitMs: number,
  holds: () => boolean | Promise<boolean>,
  everyMs = 20,
): Promise<boolean> {
  const endMs = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > endMs) return false
    await sleep(everyMs)
  }
  return true
}
