/** Waiting in tests, with an end: a wait that cannot succeed fails and says for what it waited. */
import { setTimeout as sleep } from 'node:timers/promises'

/** Longer than any test may last; it ends the wait of a test that has already timed out. */
const limitMs = 600_000

/**
 * Waits until a condition holds.
 *
 * @param ended - Of a process that has to make the condition true: once it has ended, how, and what
 *   it wrote. The wait then fails with this text.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  ended?: () => string | undefined,
): Promise<void> {
  const endMs = performance.now() + limitMs
  for (;;) {
    // Asked first: the condition then sees all that the process did.
    const end = ended?.()
    if (await condition()) return
    if (end !== undefined) throw new Error(`${end}\nThe test waited for ${String(condition)}`)
    if (performance.now() > endMs) throw new Error(`waited too long for ${String(condition)}`)
    await sleep(2)
  }
}
