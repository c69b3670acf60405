/**
 * Checks a model's header before llama.cpp sees it: numbers that would make llama.cpp abort, or
 * that contradict each other. The rest is tried in a process that may die (src/opening/require-loadable.ts).
 *
 * @module
 */

import { OiError } from '../errors.js'
import { type GgufHeader, type GgufTensor, readGgufHeader } from './gguf-header.js'

/** More layers, heads or values per row than any model has. */
const most = 2 ** 20

/**
 * @param path - A model or a projector. Unreadable files are left to llama.cpp.
 * @throws {@link OiError} `ERR_MODEL_LOAD` with the file's name and what is wrong in it.
 */
export async function checkHeader(path: string): Promise<void> {
  let header: GgufHeader | string
  try {
    header = await readGgufHeader(path)
  } catch {
    return
  }
  const fault = typeof header === 'string' ? header : faultOf(header)
  if (fault !== undefined) throw new OiError('ERR_MODEL_LOAD', `${path} ${fault}`)
}

function faultOf({ values, tensors }: GgufHeader): string | undefined {
  const architecture = values.get('general.architecture')
  if (typeof architecture !== 'string') return 'does not say its architecture'
  // A vocabulary has no tensors, and a projector's numbers are those of its vision part.
  if (tensors.length === 0) return undefined
  const prefix = architecture === 'clip' ? 'clip.vision.' : `${architecture}.`
  for (const name of [...positive, ...notNegative]) {
    const value = values.get(prefix + name)
    if (value === undefined || Array.isArray(value)) continue
    const least = positive.includes(name) ? 1 : 0
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
      return `says ${prefix}${name} = ${String(value).slice(0, 40)}, expected a whole number from ${least}`
    }
  }
  if (architecture === 'clip') {
    const missing = missingOf(tensors)
    if (missing !== undefined) return `lacks the tensor ${missing}, which its other layers have`
  }
  const number = (name: string) => {
    const value = values.get(prefix + name)
    return typeof value === 'number' && value > 0 ? value : undefined
  }
  const heads = number('attention.head_count')
  const width = number('embedding_length')
  if (heads === undefined || width === undefined) return undefined
  const keyWidth = number('attention.key_length')
  if (keyWidth === undefined && width % heads !== 0) {
    return `says ${prefix}attention.head_count = ${heads}, which does not divide its width, ${width}`
  }
  const shared = number('attention.head_count_kv')
  if (shared !== undefined && heads % shared !== 0) {
    return `says ${prefix}attention.head_count_kv = ${shared}, which does not divide its heads, ${heads}`
  }
  const rotated = number('rope.dimension_count')
  const headWidth = keyWidth ?? width / heads
  if (rotated !== undefined && (rotated > headWidth || rotated % 2 !== 0)) {
    return `says ${prefix}rope.dimension_count = ${rotated}, expected an even number up to ${headWidth}`
  }
  return undefined
}

/**
 * A tensor that one layer of a projector lacks and all others have: llama.cpp treats many of them
 * as optional, and either goes on without, or aborts at the first image.
 */
function missingOf(tensors: readonly GgufTensor[]): string | undefined {
  const layers = new Map<string, Set<string>>()
  for (const { name } of tensors) {
    const [, layer, rest] = /^v\.blk\.(\d+)\.((?:attn|ffn|ln)\w*\.\w+)$/.exec(name) ?? []
    if (layer === undefined || rest === undefined) continue
    layers.set(layer, (layers.get(layer) ?? new Set()).add(rest))
  }
  const counts = new Map<string, number>()
  for (const names of layers.values()) {
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  for (const [layer, names] of layers) {
    for (const [name, count] of counts) {
      if (count === layers.size - 1 && !names.has(name)) return `v.blk.${layer}.${name}`
    }
  }
  return undefined
}

const positive = ['block_count', 'embedding_length', 'context_length']
/** A model without attention has a head count of 0. */
const notNegative = [
  'attention.head_count',
  'attention.head_count_kv',
  'attention.key_length',
  'attention.value_length',
  'rope.dimension_count',
]
