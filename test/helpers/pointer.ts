/** A random head of `pointer@1` for the `small` fixture. */
import type { MetaValue } from './gguf-file.js'
import { createRandom } from './random.js'

export const [width, units] = [64, 24]

export function numbers(seed: number, count: number): Float32Array {
  const random = createRandom(seed)
  return Float32Array.from({ length: count }, () => (random.integer(2001) - 1000) / 4000)
}

export const head = 'oi.pointer.head.'
export const pointerKeys: Readonly<Record<string, MetaValue>> = {
  'oi.readout': 'pointer@1',
  'oi.pointer.template': '<|im_start|>{state}<|im_end|>{question}{options}<|im_start|>',
  'oi.pointer.marker': '<|im_end|>',
  [`${head}query.weight`]: numbers(1, units * width),
  [`${head}query.bias`]: numbers(2, units),
  [`${head}key.weight`]: numbers(3, units * width),
  [`${head}key.bias`]: numbers(4, units),
  [`${head}scale`]: 0.5,
}
