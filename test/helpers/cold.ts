/**
 * Requests to a small context, and what they are without any cached state.
 *
 * @module
 */
import type { ScoreInput } from '../../src/engine/types.js'
import { type FixtureName, question, text, user, withEngine } from './fixture.js'
import { relativeError } from './reference.js'

/** Of its engines. */
export const options = { contextTokens: 512, maxForks: 4, threads: 1, maxBacklogMs: 2 ** 31 }
/** Pushes everything else out of the context. */
export const filling: ScoreInput = { prefix: [user(`x ${text(420)}`)], suffixes: [question(0)] }

/** Parts are tokenized one by one, so a state of more parts goes on from one of fewer. */
export const state = (...parts: string[]): ScoreInput => ({
  prefix: parts.map(user),
  suffixes: [question(1), question(2)],
})

/** Answers of an engine that never has any of a state in a cache. */
export const cold = (name: FixtureName, requests: readonly ScoreInput[]) =>
  withEngine(
    name,
    async (engine) => {
      const answers: Float32Array[] = []
      for (const request of requests) {
        answers.push((await engine.score(request)).logits)
        await engine.score({ prefix: [user(`x ${text(480)}`)], suffixes: [question(0)] })
      }
      return answers
    },
    { ...options, hostCacheBytes: 0 },
  )

export const right = (actual: Float32Array, expected: Float32Array) =>
  relativeError(actual, expected) < 1e-3
