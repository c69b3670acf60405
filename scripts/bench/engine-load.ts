/**
 * Load on an engine in this process, without HTTP.
 *
 * @module
 */

import { type EngineOptions, openEngine } from '../../src/engine/engine.js'
import type { Engine, ScoreInput, ScoreOptions, ScoreOutput } from '../../src/engine/types.js'
import { eachOf } from './load.js'

/** Options of an engine that refuses nothing, however much waits for a slow model. */
export const patient = { maxBacklogMs: 3_600_000 }

/** Opens an engine for `use`, and always closes it. */
export async function withEngine<T>(
  options: EngineOptions,
  use: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = await openEngine(options)
  try {
    return await use(engine)
  } finally {
    await engine.close()
  }
}

/** The tokenizer of a model alone. */
export function withVocabulary<T>(
  modelPath: string,
  use: (vocabulary: Engine) => Promise<T>,
): Promise<T> {
  return withEngine({ modelPath, metadataOnly: true }, use)
}

/** A context with room beside a long state: lack of room is not measured. */
export function roomFor(stateTokens: number): number {
  return 2 * stateTokens
}

export interface Timed {
  readonly output: ScoreOutput
  readonly ms: number
}

export async function timed(
  engine: Engine,
  input: ScoreInput,
  options?: ScoreOptions,
): Promise<Timed> {
  const startMs = performance.now()
  const output = await engine.score(input, options)
  return { output, ms: performance.now() - startMs }
}

/** The same state with a question of one token: the engine evaluates no state without one. */
export function stateAlone({ prefix, suffixes }: ScoreInput): ScoreInput {
  const [{ candidates }] = suffixes as [ScoreInput['suffixes'][number]]
  return { prefix, suffixes: [{ parts: [{ text: '?', trusted: false }], candidates }] }
}

/** All at once, in this order. */
export function atOnce(engine: Engine, inputs: readonly ScoreInput[]): Promise<Timed[]> {
  return Promise.all(inputs.map((input) => timed(engine, input)))
}

/** Clients with one request under way each, until there are no more requests. */
export async function closedEngineLoop(
  engine: Engine,
  clients: number,
  next: () => ScoreInput | undefined,
  options?: ScoreOptions,
): Promise<Timed[]> {
  const all: Timed[] = []
  const client = async () => {
    for (let input = next(); input !== undefined; input = next()) {
      all.push(await timed(engine, input, options))
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return all
}

/** Requests per second of a closed loop over these, once. */
export async function peakRate(
  engine: Engine,
  clients: number,
  inputs: readonly ScoreInput[],
): Promise<number> {
  const ms = await elapsedMs(() => closedEngineLoop(engine, clients, eachOf(inputs)))
  return (inputs.length / ms) * 1000
}

/** Milliseconds from the first submission to the last answer. */
export async function elapsedMs(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
