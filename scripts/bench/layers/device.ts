/**
 * A model on a device, beside published figures: one question, several on a long state, many
 * clients, the gain of a shared state, and prompts by the size of microbatches.
 *
 * In this process, without HTTP, on all devices that the addon finds; then the layers `http` and
 * `scaling` there. The engine's counters show the cost of each case in steps: reused graphs, the
 * share of a step until it is submitted, steps that were submitted ahead, the time between steps,
 * and the bytes that a decision copies to the host.
 *
 * @module
 */

import type { Engine, EngineStats, ScoreInput } from '../../../src/engine/types.js'
import { placesText } from '../../../src/opening/places-text.js'
import { type Bench, measure, wants } from '../bench.js'
import { atOnce, elapsedMs, patient, stateAlone, timed, withEngine } from '../engine-load.js'
import { Figures } from '../figure.js'
import { quickly } from '../options.js'
import { Requests, type Size } from '../requests.js'
import { http } from './http.js'
import { scaling } from './scaling.js'

/** Published for the named hardware and models; not measured here. */
const published: Readonly<Record<string, readonly (readonly [string, string, number])[]>> = {
  'one question': [['4B, llama.cpp on an RTX PRO 6000: time', 'ms', 12]],
  '5 questions, long state': [
    ['4B, Kev on an H100: new state', 'ms', 90],
    ['4B, Kev on an H100: same state', 'ms', 22.7],
  ],
  '5 questions': [
    ['2B, decider on a GH200: time', 'ms', 6.8],
    ['2B, decider on a GH200: decisions', '/s', 2152],
  ],
  '64 clients': [['4B, Kev on an H100: decisions', '/s', 93.6 * 6]],
  sharing: [['strands on an RTX 3090: gain', '×', 9.2]],
}

const microbatches = [512, 1024, 2048, 4096]

const short: Size = { stateTokens: 60, questions: 1, questionTokens: 40 }

export async function device(bench: Bench): Promise<void> {
  const model = await bench.model()
  const { path: modelPath, threads, kernels } = model
  await withEngine({ modelPath, threads, kernels, ...patient }, async (engine) => {
    bench.note(`device: ${placesText(engine.info)}`)
    const requests = await Requests.create(engine)
    for (const [row, run] of Object.entries(rows)) {
      if (!wants(bench, row)) continue
      const figures = await run(bench, engine, requests)
      for (const [name, unit, value] of published[row]!) {
        figures.addValues(`${row}, published: ${name}`, unit, [value])
      }
      bench.record(figures.all, model)
    }
  })
  for (const microbatchTokens of microbatches) {
    const row = `prompt, microbatches of ${microbatchTokens}`
    if (wants(bench, row)) await prompt(bench, row, microbatchTokens)
  }
  if (wants(bench, 'http')) await http(bench)
  if (wants(bench, 'scaling')) await scaling(bench)
}

type Row = (bench: Bench, engine: Engine, requests: Requests) => Promise<Figures>

const rows: Readonly<Record<string, Row>> = {
  'one question': (bench, engine, requests) =>
    latencies(bench, engine, requests, 'one question', short),
  '5 questions': (bench, engine, requests) =>
    latencies(bench, engine, requests, '5 questions', { ...short, questions: 5 }),
  '5 questions, long state': (bench, engine, requests) =>
    latencies(bench, engine, requests, '5 questions, long state', {
      stateTokens: quickly(bench.options)(2200),
      questions: 5,
      questionTokens: 40,
    }),
  '64 clients': clients,
  sharing,
}

/** A new state, and new questions about it, one request at a time. */
async function latencies(
  bench: Bench,
  engine: Engine,
  requests: Requests,
  row: string,
  size: Size,
): Promise<Figures> {
  let made: ScoreInput[] = []
  const subject = (name: string, index: number) => ({
    name: `${row}: ${name}`,
    run: () => counted(engine, `${row}, ${name}`, size.questions, [made[index]!]),
  })
  const rounds = await measure(
    bench,
    [subject('new state', 0), subject('same state', 1)],
    async () => {
      made = (await requests.pairs(1, size)).map((request) => requests.input(request))
    },
  )
  const figures = new Figures('device', rounds)
  for (const name of ['new state', 'same state']) addCounted(figures, `${row}, ${name}`)
  return figures
}

/** Clients with one request each under way, all different. */
async function clients(bench: Bench, engine: Engine, requests: Requests): Promise<Figures> {
  const size = { stateTokens: 200, questions: 6, questionTokens: 40 }
  const count = quickly(bench.options)(64)
  let made: ScoreInput[] = []
  const name = `${count} clients, new states`
  const rounds = await measure(
    bench,
    [{ name, run: () => counted(engine, name, size.questions * count, made) }],
    async () => {
      made = []
      for (let i = 0; i < count; i++) made.push(requests.input(await requests.make(size)))
    },
  )
  const figures = new Figures('device', rounds)
  addCounted(figures, name)
  return figures
}

/** A new state of 4,096 tokens, in steps of a microbatch. */
async function prompt(bench: Bench, row: string, microbatchTokens: number): Promise<void> {
  const model = await bench.model()
  const { path: modelPath, threads, kernels } = model
  const options = { modelPath, threads, kernels, microbatchTokens, batchTokens: microbatchTokens }
  await withEngine({ ...options, ...patient }, async (engine) => {
    const requests = await Requests.create(engine)
    const flops = multiplications(engine)
    let input: ScoreInput
    const subject = {
      name: row,
      run: async () => {
        const { output, ms } = await timed(engine, input)
        const perSecond = ((output.prefixTokens + output.suffixTokens) / ms) * 1000
        return { [`${row}: tokens`]: perSecond, [`${row}: matmuls`]: (perSecond * flops) / 1e12 }
      },
    }
    const rounds = await measure(bench, [subject], async () => {
      const size = { stateTokens: quickly(bench.options)(4096), questions: 1, questionTokens: 40 }
      input = stateAlone(requests.input(await requests.make(size)))
    })
    const figures = new Figures('device', rounds)
    figures.add(`${row}: tokens`, '/s')
    figures.add(`${row}: matmuls`, 'Tflop/s')
    bench.record(figures.all, model)
  })
}

/** Floating-point operations of a token's matmuls with weights; of a head, where it has weights of its own. */
function multiplications({ info }: Engine): number {
  const width = Number(info.metadata[`${info.architecture}.embedding_length`])
  return 2 * (info.parameters - info.vocabularySize * width)
}

/** 16 questions on one state, beside 16 states with a question each. */
async function sharing(bench: Bench, engine: Engine, requests: Requests): Promise<Figures> {
  const size = { stateTokens: quickly(bench.options)(2000), questions: 16, questionTokens: 40 }
  let together: ScoreInput
  let apart: ScoreInput[] = []
  const rounds = await measure(
    bench,
    [
      {
        name: '16 questions, one state',
        run: () => counted(engine, 'sharing, one state', size.questions, [together]),
      },
      {
        name: '16 questions, a state each',
        run: () => counted(engine, 'sharing, a state each', size.questions, apart),
      },
    ],
    async () => {
      together = requests.input(await requests.make(size))
      apart = []
      for (let i = 0; i < size.questions; i++) {
        apart.push(requests.input(await requests.make({ ...size, questions: 1 })))
      }
    },
  )
  const figures = new Figures('device', rounds)
  for (const name of ['sharing, one state', 'sharing, a state each']) addCounted(figures, name)
  figures.addRatio('sharing: gain', 'sharing, a state each: time', 'sharing, one state: time')
  return figures
}

const units = {
  time: 'ms',
  decisions: '/s',
  'graphs used again': '%',
  'time before the device has all of a step': '%',
  'submitted ahead': '%',
  'time between steps': '%',
  'to the host, a decision': 'bytes',
} as const

/** Asks these at once. */
async function counted(
  engine: Engine,
  name: string,
  decisions: number,
  inputs: readonly ScoreInput[],
): Promise<Record<string, number>> {
  const before = engine.stats()
  const ms = await elapsedMs(() => atOnce(engine, inputs))
  const after = engine.stats()
  const grown = (key: keyof EngineStats) => after[key] - before[key]
  const values: Record<keyof typeof units, number> = {
    time: ms,
    decisions: (decisions / ms) * 1000,
    'graphs used again': (100 * grown('graphsReused')) / grown('steps'),
    'time before the device has all of a step': (100 * grown('submitMs')) / grown('busyMs'),
    'submitted ahead': (100 * grown('stepsAhead')) / grown('steps'),
    'time between steps': 100 * (1 - grown('busyMs') / ms),
    'to the host, a decision': grown('readoutBytes') / decisions,
  }
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [`${name}: ${key}`, value]),
  )
}

function addCounted(figures: Figures, name: string): void {
  for (const [key, unit] of Object.entries(units)) figures.add(`${name}: ${key}`, unit)
}
