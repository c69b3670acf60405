/** A random head of `pointer@1` for the `small` fixture, and its answers in double precision. */
import type { DecideRequest } from '../../src/decide/types.js'
import type { Engine, PromptPart } from '../../src/engine/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import { DecoderReference } from './decoder-reference.js'
import type { MetaValue } from './gguf-file.js'
import { renderedBy } from './hidden.js'
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

/** The expected logits of questions that take one pass each, by the model's file. */
export async function expectedPointerLogits(
  engine: Engine,
  request: DecideRequest,
  modelPath: string,
): Promise<number[][]> {
  const reference = new DecoderReference(modelPath)
  const { template, marker } = (await createReadout(engine)).pass!
  const stateFirst = template.indexOf('{state}') < template.indexOf('{options}')
  const { prefix, suffixes } = await renderedBy(engine, request)
  const state = (await engine.tokenize(prefix)).flatMap((ids) => [...ids])
  const isMarker = (part?: PromptPart) => part?.trusted === true && part.text === marker
  const expected: number[][] = []
  for (const { parts } of suffixes) {
    const ids = await engine.tokenize(parts)
    const ends: number[] = []
    let behind = stateFirst ? state.length : 0
    parts.forEach((part, i) => {
      behind += ids[i]!.length
      if (isMarker(part)) ends.push(behind - 1)
      else if (isMarker(parts[i - 1])) ends[ends.length - 1] = behind - 1
    })
    const own = ids.flatMap((tokens) => [...tokens])
    expected.push(reference.logits(stateFirst ? [...state, ...own] : [...own, ...state], ends))
  }
  return expected
}
