/**
 * States that an engine keeps on disk.
 */
import { readdirSync } from 'node:fs'
import type { EngineOptions } from '../../src/engine/engine.js'
import type { ScoreInput, ScoreOutput } from '../../src/engine/types.js'
import { question, text, user, withEngine } from './fixture.js'

export const options = { contextTokens: 512, maxForks: 4, threads: 1, maxBacklogMs: 2 ** 31 }
// Reading must be worth it: a state that is evaluated faster than it is read is evaluated.
export const state = (id: number | string): ScoreInput => ({
  prefix: [user(`${id}: ${text(150)}`)],
  suffixes: [question(1)],
})
export const files = (dir: string) => readdirSync(dir).filter((name) => name.endsWith('.state'))

/** Scores the states in an engine over that folder, and closes it. */
export const session = (
  dir: string,
  ids: readonly (number | string)[],
  more: Partial<EngineOptions> = {},
  name: 'small' | 'dense' | 'hybrid' = 'dense',
) =>
  withEngine(name, { ...options, diskCacheDir: dir, ...more }, async (engine) => {
    const answers: ScoreOutput[] = []
    for (const id of ids) answers.push(await engine.score(state(id)))
    return { answers, stats: engine.stats() }
  })
