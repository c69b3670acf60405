/** Waits for what another part of the test brings about, as long as the test may last. */
import { setTimeout as sleep } from 'node:timers/promises'

export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2)
}
