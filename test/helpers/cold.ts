/**
 * Requests to a small context, and their answers without any cached state.
 *
 * @module
 */
import type { Engine, ScoreInput } from '../../src/engine/types.js'
import { type FixtureName, question, text, user, withEngine } from './fixture.js'
import { relativeError } from './reference.js'

/** The context of the tests' engines. */
export const options = { contextTokens: 512, maxForks: 4, threads: 1, maxBacklogMs: 2 ** 31 }
/** Whether engines have layers on a GPU, which keeps more idle cells than a CPU. */
export const onGpu = await withEngine(
  'small',
  {
    metadataOnly: true,
  },
  async ({ info }) => info.device !== 'CPU' || process.env['OI_TEST_PLAN'] === 'gpu',
)

/**
 * Asks until the state is kept when it leaves the context: once, or twice on a GPU.
 *
 * @returns The first answer.
 */
export async function scoreUntilKept(engine: Engine, request: ScoreInput) {
  const first = await engine.score(request)
  if (onGpu) await engine.score(request)
  return first
}

/** Pushes everything else out of the context; on a GPU that takes more than one state. */
export async function fill(engine: Engine): Promise<void> {
  for (const name of onGpu ? ['x', 'y'] : ['x']) {
    await engine.score({ prefix: [user(`${name} ${text(420)}`)], suffixes: [question(0)] })
  }
}

/** Parts are tokenized one by one, so a state with more parts continues a state with fewer. */
export const state = (...parts: string[]): ScoreInput => ({
  prefix: parts.map(user),
  suffixes: [question(1), question(2)],
})

/** Answers of an engine without any cached state. */
export const cold = (name: FixtureName, requests: readonly ScoreInput[]) =>
  withEngine(name, { ...options, hostCacheBytes: 0 }, async (engine) => {
    const answers: Float32Array[] = []
    for (const request of requests) {
      answers.push((await engine.score(request)).logits)
      await engine.score({ prefix: [user(`x ${text(480)}`)], suffixes: [question(0)] })
    }
    return answers
  })

export const right = (actual: Float32Array, expected: Float32Array) =>
  relativeError(actual, expected) < 1e-3
