/**
 * Prompt tokens per second for each type of weights, beside llama-bench of the same tree with its
 * better attention; and whether a larger shape gains as much.
 *
 * @module
 */

import { type Bench, measure, wants } from '../bench.js'
import { stateAlone, timed, withEngine } from '../engine-load.js'
import { Figures, type Goal } from '../figure.js'
import { llamaBenchPrompts } from '../llama-bench.js'
import { Requests } from '../requests.js'
import type { ShapeName } from '../model-file.js'
import { median } from '../stats.js'

/** Tokens of a prompt -> its goal. */
const goals: Readonly<Record<string, Readonly<Record<number, number>>>> = {
  Q8_0: { 512: 3, 4096: 3 },
  Q4_K_M: { 512: 2, 4096: 2 },
  Q4_0: { 512: 1.6, 4096: 2 },
  BF16: { 512: 1.6, 4096: 2 },
}
const shapes: readonly { shape: ShapeName; sizes: readonly number[] }[] = [
  { shape: 'qwen3-0.6b', sizes: [512, 4096] },
  { shape: 'qwen3-1.7b', sizes: [512] },
]
/** The larger shape's ratio over the smaller one's. */
const agreement: Goal = { atLeast: 0.85, atMost: 1.15 }

export async function prefill(bench: Bench): Promise<void> {
  for (const [type, ofSize] of Object.entries(goals)) {
    const ratios: number[] = []
    for (const { shape, sizes } of shapes) {
      const row = `${type}, ${shape}`
      if (!wants(bench, row)) continue
      bench.say(`  ${row}`)
      const figures = await compare(bench, row, { shape, type, sizes, ofSize })
      const ratio = figures.all.find(({ name }) => name === ratioName(row, 512))
      ratios.push(median(ratio!.values))
      const [small, large] = ratios
      if (small !== undefined && large !== undefined) {
        const name = `${type}, 512 tokens: ratio of ${shape} by that of ${shapes[0]!.shape}`
        figures.addValues(name, '×', [large / small], agreement)
      }
      bench.record(figures.all, await bench.model(shape, type))
    }
  }
}

interface Row {
  readonly shape: ShapeName
  readonly type: string
  readonly sizes: readonly number[]
  readonly ofSize: Readonly<Record<number, number>>
}

async function compare(
  bench: Bench,
  row: string,
  { shape, type, sizes, ofSize }: Row,
): Promise<Figures> {
  const model = await bench.model(shape, type)
  const { path: modelPath, threads, kernels } = model
  const contextTokens = Math.max(...sizes) + 256
  // llama-bench keeps no states either.
  const hostCacheBytes = 0
  const options = { modelPath, threads, kernels, contextTokens, hostCacheBytes }
  return withEngine(options, async (engine) => {
    const requests = await Requests.create(engine)
    const oursName = (tokens: number) => `${row}, ${tokens} tokens: ours`
    const ours = {
      name: 'ours',
      run: async () => {
        const speeds: [string, number][] = []
        for (const tokens of sizes) {
          const size = { stateTokens: tokens, questions: 1, questionTokens: 32 }
          const input = stateAlone(requests.input(await requests.make(size)))
          const { output, ms } = await timed(engine, input)
          const evaluated = output.prefixTokens - output.cachedTokens + output.suffixTokens
          speeds.push([oursName(tokens), (evaluated / ms) * 1000])
        }
        return Object.fromEntries(speeds)
      },
    }
    const stock = await llamaBenchPrompts(bench, model, sizes, row)
    const figures = new Figures('prefill', await measure(bench, [stock.subject, ours]))
    for (const tokens of sizes) {
      const names = stock.names(tokens)
      for (const name of names) figures.add(name, 'tokens/s')
      figures.add(oursName(tokens), 'tokens/s')
      const goal = shape === shapes[0]!.shape ? { atLeast: ofSize[tokens]! } : undefined
      figures.addRatio(ratioName(row, tokens), oursName(tokens), figures.best(names), goal)
    }
    return figures
  })
}

const ratioName = (row: string, tokens: number) => `${row}, ${tokens} tokens: ours / llama-bench`
