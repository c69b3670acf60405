/**
 * The share of evaluated tokens that had to be evaluated.
 *
 * Counted in a replay of one round: an engine in this process, opened like the server's, with the
 * same requests in the same order. The server's own counters would include warm-up and other
 * rounds.
 *
 * @module
 */

import type { DecideRequest } from '../../src/decide/types.js'
import { atOnce, closedEngineLoop, patient, withEngine } from './engine-load.js'
import { eachOf } from './load.js'
import type { ModelFile } from './model-file.js'
import { type Requests, uniqueTokens } from './requests.js'
import type { Work } from './work.js'

/** @returns Fewest unique prompt tokens over evaluated tokens, padding included. */
export async function usefulWork(
  { path, threads }: ModelFile,
  requests: Requests,
  work: Work,
): Promise<number> {
  const first = (await work.first?.()) ?? []
  const next = await work.next()
  return withEngine({ modelPath: path, threads, ...patient }, async (engine) => {
    const inputs = (these: readonly DecideRequest[]) =>
      these.map((request) => requests.input(request))
    await atOnce(engine, inputs(first))
    const before = engine.stats().evaluatedTokens
    if (work.inTurn) await closedEngineLoop(engine, 1, eachOf(inputs(next)))
    else await atOnce(engine, inputs(next))
    const evaluated = engine.stats().evaluatedTokens - before
    return ((await unique([...first, ...next])) - (await unique(first))) / evaluated
  })

  async function unique(these: readonly DecideRequest[]): Promise<number> {
    return uniqueTokens((await Promise.all(these.map((each) => requests.prompts(each)))).flat())
  }
}
