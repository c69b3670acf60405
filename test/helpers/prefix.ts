/** Models of `prefix@1`: a fixture with other metadata, and its answers in double precision. */
import type { DecideRequest } from '../../src/decide/types.js'
import type { Engine, PromptPart } from '../../src/engine/types.js'
import { EncoderReference, geluByErf } from './encoder-reference.js'
import { readGguf } from './gguf-file.js'
import { changedFixture, type Changes, renderedBy } from './hidden.js'
import { dot, product, sum } from './vectors.js'

/** A copy of the fixture with other metadata, in a folder of the test. */
export const prefixModel = (folder: string, changes: Changes = {}, type?: string) =>
  changedFixture(folder, 'prefix', changes, type)

/** The expected logits of each question: the network of README.md, on one question at a time. */
export async function expectedPrefixLogits(
  engine: Engine,
  request: DecideRequest,
  modelPath: string,
): Promise<number[][]> {
  const reference = new EncoderReference(modelPath)
  const { meta } = readGguf(modelPath)
  const types = [...((meta.get('oi.prefix.token_types') as Uint32Array | undefined) ?? [0, 0, 0])]
  const together = meta.get('oi.prefix.levels') !== 'apart'
  const numbers = (name: string) =>
    Float64Array.from(meta.get(`oi.prefix.head.${name}`) as Float32Array)
  const logit = (kind: number, state: Float64Array) => {
    const hidden = sum(product(numbers('hidden.weight'), state), numbers('hidden.bias'))
    const weights = numbers('output.weight')
    const row = weights.subarray(kind * hidden.length, (kind + 1) * hidden.length)
    return dot(hidden.map(geluByErf), row) + numbers('output.bias')[kind]!
  }
  const { prefix, suffixes } = await renderedBy(engine, request)
  const state = (await engine.tokenize(prefix)).flatMap((ids) => [...ids])
  const expected = []
  for (const { parts, candidates } of suffixes) {
    const kind = candidates[0]!
    const own = await split(engine, parts, kind === 2 && together)
    const pass = [state, ...own].flatMap((tokens, part) => {
      const first = part === 0 ? 0 : part === 1 ? state.length : state.length + own[0]!.length
      const type = types[Math.min(part, 2)]!
      return tokens.map((token, i) => ({
        token,
        position: first + i,
        type,
        part,
      }))
    })
    const states = reference.states(pass, (i, j) => {
      const [query, key] = [pass[i]!.part, pass[j]!.part]
      return key === query || key === 0 || (query > 1 && key === 1)
    })
    const mask = markerOf(meta.get('tokenizer.ggml.tokens') as string[])
    expected.push(
      kind === 0
        ? [0, logit(0, states[state.length]!)]
        : pass.flatMap(({ token, part }, i) =>
            part > 1 && token === mask ? logit(kind, states[i]!) : [],
          ),
    )
  }
  return expected
}

const markerOf = (tokens: readonly string[]) => tokens.indexOf('[MASK]')

/** The tokens of the question, and of each option; of all levels, if they are one part. */
async function split(
  engine: Engine,
  parts: readonly PromptPart[],
  together: boolean,
): Promise<number[][]> {
  const ids = await engine.tokenize(parts)
  const all: number[][] = [[]]
  parts.forEach(({ text, trusted }, i) => {
    const begins = trusted && text === '[MASK]' && !(together && all.length > 1)
    if (begins) all.push([])
    all.at(-1)!.push(...ids[i]!)
  })
  return all
}
