/**
 * An engine that answers at once: everything in front of a real one does its work.
 *
 * @module
 */

import type { Engine, ScoreInput, ScoreOutput } from '../../src/engine/types.js'
import { createFakeEngine } from '../../test/helpers/fake-engine.js'

const prefixTokens = 1000
const outputTokens = 60
/** As many as most requests need. */
const logits = logitsOf(4096)

/** @param vision - Whether it sees images. */
export function createInstantEngine({ vision = false } = {}): Engine {
  // Its tokenizer is enough for finding the labels; it is used at the start only.
  const fake = createFakeEngine({ info: { vision } })
  return {
    info: fake.info,
    score: (input) => Promise.resolve(outputOf(input)),
    tokenize: (texts) => fake.tokenize(texts),
    countTokens: () => Promise.resolve(outputTokens),
    stats: () => fake.stats(),
    areOrdinary: (ids) => fake.areOrdinary(ids),
    close: () => fake.close(),
  }
}

function logitsOf(count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, i) => 1 / (i + 1))
}

function outputOf({ suffixes }: ScoreInput): ScoreOutput {
  let floats = 0
  for (const { candidates } of suffixes) floats += candidates.length + 1
  return {
    logits: floats <= logits.length ? logits.slice(0, floats) : logitsOf(floats),
    ranks: new Int32Array(suffixes.length),
    prefixTokens,
    suffixTokens: 40 * suffixes.length,
    cachedTokens: 0,
    evaluatedTokens: 0,
    queueMs: 0,
    tokenizeMs: 0,
    imageTokens: 0,
    visionMs: 0,
    modelMs: 0.5,
  }
}
