/**
 * The cost of requests over questions, state tokens and clients: one varies, the others stay at a
 * base case.
 *
 * Cost has to be linear in the unique prompt tokens of all requests of a point, each counted once
 * however many questions share it. Over questions and clients a line is fitted; over state tokens
 * a line and the square that attention adds.
 *
 * In the engine without HTTP, and on a small model, so that 16,000 tokens take seconds.
 *
 * @module
 */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine, ScoreInput } from '../../../src/engine/types.js'
import { type Bench, measure, wants } from '../bench.js'
import { atOnce, elapsedMs, patient, roomFor, withEngine } from '../engine-load.js'
import { Figures } from '../figure.js'
import { type Fit, fitCurve, fitLine, type Point } from '../fit.js'
import { describeModel } from '../model-file.js'
import { type BenchOptions, quickly } from '../options.js'
import { resultsDir } from '../report.js'
import { Requests, type Size, uniqueTokens } from '../requests.js'
import { type Panel, plot } from '../scaling-plot.js'
import { median } from '../stats.js'

interface Case extends Size {
  readonly clients: number
}

interface Axis {
  readonly name: 'questions' | 'state tokens' | 'clients'
  readonly sizes: readonly number[]
  /** The base case with one of these sizes. */
  readonly at: (size: number) => Case
  readonly fit: (points: readonly Point[]) => Fit
}

const mostQuestions = 128
const mostStateTokens = 16_000
const mostClients = 64
const minR2 = 0.98

export async function scaling(bench: Bench): Promise<void> {
  const model = await bench.model('fixture-dense-qwen')
  const contextTokens = roomFor(quickly(bench.options)(mostStateTokens))
  const { path: modelPath, threads } = model
  await withEngine({ modelPath, threads, contextTokens, ...patient }, async (engine) => {
    const requests = await Requests.create(engine)
    const panels: Panel[] = []
    const axes = axesOf(bench.options)
    for (const axis of axes.filter(({ name }) => wants(bench, name))) {
      const { figures, panel } = await measured(bench, engine, requests, axis)
      bench.record(figures.all, model)
      panels.push(panel)
    }
    if (!bench.options.save || panels.length < axes.length) return
    const { machine, cpu, cores, date } = bench.origin
    const caption = `${describeModel(model)}; ${cpu}, ${cores} cores; ${date.slice(0, 10)}`
    writeFileSync(join(resultsDir, `scaling-${machine}.svg`), plot(panels, caption))
  })
}

function axesOf(options: BenchOptions): readonly Axis[] {
  const size = quickly(options)
  const { questionTokens } = options
  const base: Case = {
    stateTokens: size(options.stateTokens),
    questions: options.questions,
    questionTokens,
    clients: 1,
  }
  return [
    {
      name: 'questions',
      sizes: doublings(1, size(mostQuestions)),
      at: (questions) => ({ ...base, questions }),
      fit: fitLine,
    },
    {
      name: 'state tokens',
      sizes: [...doublings(125, size(mostStateTokens) / 2), size(mostStateTokens)],
      at: (stateTokens) => ({ ...base, stateTokens }),
      fit: fitCurve,
    },
    {
      name: 'clients',
      sizes: doublings(1, size(mostClients)),
      at: (clients) => ({ ...base, clients }),
      fit: fitLine,
    },
  ]
}

function doublings(from: number, to: number): number[] {
  return from > to ? [] : [from, ...doublings(2 * from, to)]
}

async function measured(bench: Bench, engine: Engine, requests: Requests, axis: Axis) {
  const sizes = axis.sizes.filter((size) => fits(bench, engine, axis, size))
  const name = (size: number, what: string) => `${axis.name} ${size.toLocaleString('en')}: ${what}`
  const subjects = sizes.map((size) => ({
    name: `${axis.name} ${size}`,
    run: async () => {
      const { inputs, unique } = await newInputs(requests, axis.at(size))
      const ms = await elapsedMs(() => atOnce(engine, inputs))
      return {
        [name(size, 'unique tokens')]: unique,
        [name(size, 'time')]: ms,
        [name(size, 'rate')]: (unique / ms) * 1000,
      }
    },
  }))
  const figures = new Figures('scaling', await measure(bench, subjects))
  for (const size of sizes) {
    figures.add(name(size, 'unique tokens'), 'tokens')
    figures.add(name(size, 'time'), 'ms')
    figures.add(name(size, 'rate'), 'tokens/s')
  }
  const points = sizes.map((size) => ({
    x: median(figures.values(name(size, 'unique tokens'))),
    y: median(figures.values(name(size, 'time'))),
    label: size.toLocaleString('en'),
  }))
  const fit = axis.fit(points)
  addFit(figures, axis, fit, points.at(-1)!.x)
  const labels = points.map(({ label }) => label)
  return { figures, panel: { title: panelTitle(axis.name, labels), points, fit } }
}

/** As `Questions, 1 to 128`. */
function panelTitle(name: string, labels: readonly string[]): string {
  return `${name[0]!.toUpperCase()}${name.slice(1)}, ${labels[0]} to ${labels.at(-1)}`
}

/** Fits the medians: a fit through each round would describe the machine. */
function addFit(figures: Figures, { name, fit: kind }: Axis, fit: Fit, largest: number): void {
  const [first, second] = fit.coefficients
  const add = (what: string, unit: string, value: number, goal?: { atLeast: number }) =>
    figures.addValues(`${name}: ${what}`, unit, [value], goal)
  if (kind === fitLine) {
    add('fixed cost', 'ms', first)
    add('cost of 1,000 unique tokens', 'ms', second * 1000)
    add('R² of the line', '', fit.r2, { atLeast: minR2 })
  } else {
    add('cost of 1,000 unique tokens, without the square', 'ms', first * 1000)
    add('cost of the square of 1,000 tokens', 'ms', second * 1e6)
    add(
      'share of the square at the largest',
      '%',
      ((second * largest ** 2) / fit.at(largest)) * 100,
    )
    add('R² of the curve', '', fit.r2, { atLeast: minR2 })
  }
  add('largest distance from the fit', '%', fit.worst * 100)
}

function fits({ note }: Bench, { info }: Engine, { name, at }: Axis, size: number): boolean {
  const { stateTokens, questionTokens } = at(size)
  if (stateTokens + questionTokens <= info.contextTokens) return true
  note(`scaling: ${name} ${size} do not fit the context of ${info.contextTokens} tokens`)
  return false
}

async function newInputs(
  requests: Requests,
  { clients, ...size }: Case,
): Promise<{ inputs: ScoreInput[]; unique: number }> {
  const inputs: ScoreInput[] = []
  const prompts: number[][] = []
  for (let i = 0; i < clients; i++) {
    const request = await requests.make(size)
    inputs.push(requests.input(request))
    prompts.push(...(await requests.prompts(request)))
  }
  return { inputs, unique: uniqueTokens(prompts) }
}
