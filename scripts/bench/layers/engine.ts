/**
 * The engine without HTTP, beside llama.cpp alone.
 *
 * A new state comes with a question of one token, because the engine evaluates no state without
 * one: that pass counts as the state's time. Then the same state gets new questions. In addition, a
 * new request in a crowded cache (see crowd.ts), and the cost of bit-identical answers (see
 * deterministic.ts).
 *
 * @module
 */

import type { DecideRequest } from '../../../src/decide/types.js'
import type { EngineOptions } from '../../../src/engine/engine.js'
import type { Engine, ScoreOutput } from '../../../src/engine/types.js'
import { type Bench, measure, wants } from '../bench.js'
import { crowd, crowdName } from '../crowd.js'
import { deterministic, deterministicName } from '../deterministic.js'
import { stateAlone, timed, withEngine, withVocabulary } from '../engine-load.js'
import { Figures } from '../figure.js'
import { ceilings, llamaBench } from '../llama-bench.js'
import { Requests, uniqueTokens } from '../requests.js'

const goal = { atLeast: 0.95 }
/** A new state may share its beginning with the last one: the template's own tokens. */
const maxTemplateTokens = 32

const rows = [
  { row: 'one request after another', run: alone },
  { row: crowdName, run: crowd },
  { row: deterministicName, run: deterministic },
]

export async function engine(bench: Bench): Promise<void> {
  const { microbatchTokens, flashAttention, cacheType } = bench.options
  const model = await bench.model()
  const { path: modelPath, threads, kernels } = model
  const options = { modelPath, threads, kernels, microbatchTokens, flashAttention, cacheType }
  await withVocabulary(modelPath, async (vocabulary) => {
    const requests = await Requests.create(vocabulary)
    for (const { row, run } of rows) {
      if (wants(bench, row)) bench.record((await run(bench, requests, options)).all, model)
    }
  })
}

function alone(bench: Bench, requests: Requests, options: EngineOptions): Promise<Figures> {
  return withEngine(options, (opened) => oneAfterAnother(bench, requests, opened))
}

async function oneAfterAnother(bench: Bench, requests: Requests, opened: Engine): Promise<Figures> {
  const { stateTokens, questions, questionTokens } = bench.options
  let request: DecideRequest
  const subject = {
    name: 'engine',
    run: async () => {
      const input = requests.input(request)
      const state = await timed(opened, stateAlone(input))
      const asked = await timed(opened, input)
      requireSizes(state.output, stateTokens, 1)
      requireSizes(asked.output, stateTokens, questions * questionTokens)
      const { cachedTokens } = state.output
      if (cachedTokens > maxTemplateTokens || asked.output.cachedTokens !== stateTokens) {
        throw new Error(
          `Cached: ${cachedTokens} of a new state, ${asked.output.cachedTokens} again`,
        )
      }
      const evaluated = evaluatedTokens(state.output) + evaluatedTokens(asked.output)
      return {
        'engine state': (evaluatedTokens(state.output) / state.ms) * 1000,
        'engine questions': (evaluatedTokens(asked.output) / asked.ms) * 1000,
        'useful work': uniqueTokens(await requests.prompts(request)) / (evaluated + cachedTokens),
      }
    },
  }
  const rounds = await measure(bench, [await llamaBench(bench), subject], async () => {
    request = await requests.make(bench.options)
  })

  const figures = new Figures('engine', rounds)
  for (const name of [...ceilings.state, ...ceilings.questions]) figures.add(name, 'tokens/s')
  figures.add('engine state', 'tokens/s')
  figures.add('engine questions', 'tokens/s')
  figures.addRatio('state / ceiling', 'engine state', figures.best(ceilings.state), goal)
  figures.addRatio(
    'questions / ceiling',
    'engine questions',
    figures.best(ceilings.questions),
    goal,
  )
  figures.add('useful work', '×', goal)
  return figures
}

function evaluatedTokens({ prefixTokens, cachedTokens, suffixTokens }: ScoreOutput): number {
  return prefixTokens - cachedTokens + suffixTokens
}

function requireSizes(output: ScoreOutput, prefix: number, suffix: number): void {
  const { prefixTokens, suffixTokens } = output
  if (prefixTokens === prefix && suffixTokens === suffix) return
  throw new Error(`Sizes are off: ${prefixTokens} and ${suffixTokens}, not ${prefix} and ${suffix}`)
}
