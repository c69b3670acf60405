/** The header of a GGUF file, whose tensors are not there. */
import { headOf, rawOf } from './gguf-file.js'

export function ggufHead(texts: Readonly<Record<string, string>>, tensors = 1): Buffer {
  // The first two are skipped: a list of texts, and a number.
  const values = Object.entries({ list: ['a', 'bc'], count: 7, ...texts })
  const places = Array.from({ length: tensors }, (_, i) => ({
    ...{ name: `t${i}`, dims: [1], type: 0, offset: 0 },
  }))
  return headOf(new Map(values.map(([key, value]) => [key, rawOf(value)])), places)
}
