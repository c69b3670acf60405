/**
 * Images in texts: the text is cut at their marks, and the image is put between.
 *
 * Rules
 *   1. The engine takes images in a prefix only. A question with images is asked by itself, after a
 *      prefix made of the state and the question up to its last image; the state's part of that
 *      prefix comes from the cache.
 *   2. Tokens are counted as if the engine took images in questions: the state once, and each
 *      question.
 *
 * @module
 */

import type {
  Engine,
  PromptPart,
  ScoreInput,
  ScoreOptions,
  ScoreOutput,
  Suffix,
} from '../engine/types.js'
import type { Rendering } from '../prompt/types.js'
import type { DecideRequest, RequestImages } from './types.js'

/**
 * Puts images in place of their marks.
 *
 * @param questions - As the caller gave them, without marks.
 */
export function placeMarked(
  { input, readers }: Rendering,
  { inText: images }: RequestImages,
  questions: DecideRequest['questions'],
): Rendering {
  if (images === undefined || images.size === 0) return { input, readers }
  const marks = new RegExp(`(${[...images.keys()].join('|')})`)
  const cut = (parts: readonly PromptPart[]): PromptPart[] =>
    parts.flatMap((part) => {
      if (part.trusted || part.image !== undefined) return [part]
      const pieces = part.text.split(marks)
      return pieces
        .filter((text) => text !== '' || pieces.length === 1)
        .map((text): PromptPart => {
          const image = images.get(text)
          return image ? { text: '', trusted: false, image } : { text, trusted: false }
        })
    })
  return {
    input: {
      prefix: cut(input.prefix),
      suffixes: input.suffixes.map((suffix) => ({ ...suffix, parts: cut(suffix.parts) })),
    },
    readers: readers.map((reader) => ({ ...reader, question: questions[reader.name]! })),
  }
}

/** As {@link Engine.score}, but suffixes may have images. */
export async function scoreWithImages(
  engine: Engine,
  { prefix, suffixes }: ScoreInput,
  options: ScoreOptions,
): Promise<ScoreOutput> {
  const withImages = suffixes.filter(hasImage)
  if (withImages.length === 0) return engine.score({ prefix, suffixes }, options)
  const plain = suffixes.filter((suffix) => !hasImage(suffix))
  // The size of the state alone must be known: one question is asked only to count it.
  const counted = plain.length > 0 ? plain : [{ ...textOnly(withImages[0]!), candidates: none }]
  const base = await engine.score({ prefix, suffixes: counted }, options)
  const outputs = await Promise.all(
    withImages.map(({ parts, candidates }) => {
      const end = parts.findLastIndex(({ image }) => image !== undefined) + 1
      const own = { prefix: [...prefix, ...parts.slice(0, end)] }
      return engine.score({ ...own, suffixes: [{ parts: parts.slice(end), candidates }] }, options)
    }),
  )
  return joined(suffixes, base, outputs, plain.length > 0)
}

const none = new Int32Array(0)

function hasImage({ parts }: Suffix): boolean {
  return parts.some(({ image }) => image !== undefined)
}

function textOnly({ parts }: Suffix) {
  return { parts: parts.filter(({ image }) => image === undefined) }
}

/** @param asked - Whether the base has questions, or only the one for counting. */
function joined(
  suffixes: readonly Suffix[],
  base: ScoreOutput,
  outputs: readonly ScoreOutput[],
  asked: boolean,
): ScoreOutput {
  const logits: number[] = []
  const ranks: number[] = []
  const next = { logit: 0, rank: 0, output: 0 }
  for (const suffix of suffixes) {
    const count = suffix.candidates.length
    if (hasImage(suffix)) {
      const output = outputs[next.output++]!
      logits.push(...output.logits)
      ranks.push(...output.ranks)
    } else if (count > 0) {
      logits.push(...base.logits.subarray(next.logit, (next.logit += count + 1)))
      ranks.push(base.ranks[next.rank++]!)
    }
  }
  const sum = (of: (output: ScoreOutput, i: number) => number, start: number) =>
    outputs.reduce((total, output, i) => total + of(output, i), start)
  // Another order of a question counts nothing.
  const counted = suffixes.filter(hasImage).map(({ counts }) => counts === undefined)
  const { prefixTokens: state, imageTokens: seen } = base
  return {
    ...base,
    logits: Float32Array.from(logits),
    ranks: Int32Array.from(ranks),
    suffixTokens: sum(
      (output, i) => (counted[i] ? output.prefixTokens - state + output.suffixTokens : 0),
      asked ? base.suffixTokens : 0,
    ),
    imageTokens: sum((output, i) => (counted[i] ? output.imageTokens - seen : 0), seen),
    evaluatedTokens: sum((output) => output.evaluatedTokens, base.evaluatedTokens),
    cachedTokens: sum((output) => Math.max(0, output.cachedTokens - state), base.cachedTokens),
    queueMs: sum(({ queueMs }) => queueMs, base.queueMs),
    tokenizeMs: sum(({ tokenizeMs }) => tokenizeMs, base.tokenizeMs),
    visionMs: sum(({ visionMs }) => visionMs, base.visionMs),
    modelMs: sum(({ modelMs }) => modelMs, base.modelMs),
  }
}
