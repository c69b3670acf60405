import type { Bench } from '../bench.js'
import type { Figure } from '../figure.js'
export async function peer(_bench: Bench): Promise<readonly Figure[]> {
  return []
}
