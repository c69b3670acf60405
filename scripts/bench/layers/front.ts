import type { Bench } from '../bench.js'
import type { Figure } from '../figure.js'
export async function front(_bench: Bench): Promise<readonly Figure[]> {
  return []
}
