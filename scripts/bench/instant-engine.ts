/**
 * An engine that answers at once: everything in front of a real one does its work.
 *
 * @module
 */

import type { Engine, ScoreInput, ScoreOutput } from '../../src/engine/types.js'
import { createFakeEngine } from '../../test/helpers/fake-engine.js'

const prefixTokens = 1000
const outputTokens = 60
const logits = Float32Array.from({ length: 4096 }, (_, i) => 1 / (i + 1))

export function createInstantEngine(): Engine {
  // Its tokenizer is what finding the labels needs; it is asked at the start only.
  const fake = createFakeEngine()
  return {
    info: fake.info,
    score: (input) => Promise.resolve(outputOf(input)),
    tokenize: (texts) => fake.tokenize(texts),
    countTokens: () => Promise.resolve(outputTokens),
    areOrdinary: (ids) => fake.areOrdinary(ids),
    close: () => fake.close(),
  }
}

function outputOf({ suffixes }: ScoreInput): ScoreOutput {
  let floats = 0
  for (const { candidates } of suffixes) floats += candidates.length + 1
  return {
    logits: logits.slice(0, floats),
    prefixTokens,
    suffixTokens: 40 * suffixes.length,
    cachedTokens: 0,
    queueMs: 0,
    tokenizeMs: 0,
    modelMs: 0.5,
  }
}
