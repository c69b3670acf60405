/**
 * llama.cpp's own evaluation of whole prompts, in its own process.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { buildNative } from '../../scripts/build/native.js'
import type { Engine, PromptPart, ScoreInput } from '../../src/engine/types.js'

/**
 * The expected `engine.score(input).logits`: each question's prompt evaluated alone, from an empty
 * context, by one llama_decode.
 */
export async function referenceLogits(
  modelPath: string,
  engine: Engine,
  input: ScoreInput,
  cacheType: 'f16' | 'f32' = 'f16',
  projector?: string,
): Promise<number[]> {
  const dir = await buildNative(new Set(), ['oi-reference'])
  const ids = await engine.tokenize(input.prefix)
  const prefix = input.prefix.flatMap((part, i) => pictureWords(part) ?? [...ids[i]!])
  const lines: string[] = []
  for (const suffix of input.suffixes) {
    const ids = (await engine.tokenize(suffix.parts)).flatMap((part) => [...part])
    lines.push(`${[...prefix, ...ids].join(' ')} | ${[...suffix.candidates].join(' ')}`)
  }
  const run = spawnSync(
    join(dir, 'oi-reference'),
    [modelPath, cacheType, ...(projector === undefined ? [] : [projector])],
    {
      input: lines.join('\n') + '\n',
      encoding: 'utf8',
    },
  )
  if (run.status !== 0) throw new Error(`oi-reference failed: ${run.stderr}`)
  return run.stdout.trim().split(/\s+/).map(Number)
}

/** An image in the form of oi-reference. */
function pictureWords({ image }: PromptPart): (string | number)[] | undefined {
  return image && ['<', image.width, image.height, ...image.rgb, '>']
}

/** Largest difference of two vectors, relative to the largest magnitude in the second. */
export function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  if (actual.length !== expected.length || expected.length === 0) return Infinity
  let difference = 0
  let magnitude = 0
  for (let i = 0; i < expected.length; i++) {
    // Written so that NaN counts as wrong.
    const d = Math.abs(actual[i]! - expected[i]!)
    if (!(d <= difference)) difference = d
    magnitude = Math.max(magnitude, Math.abs(expected[i]!))
  }
  return difference / magnitude
}
