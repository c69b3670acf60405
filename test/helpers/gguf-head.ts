/** The beginning of a GGUF file: its metadata and nothing after it. */
import { headOf, rawOf } from './gguf-file.js'

export function ggufHead(texts: Readonly<Record<string, string>>, tensors = 1): Buffer {
  // The first two are skipped: a list of texts, and a number.
  const values = Object.entries({ list: ['a', 'bc'], count: 7, ...texts })
  return headOf(new Map(values.map(([key, value]) => [key, rawOf(value)])), tensors)
}
