/**
 * What the steps of a GPU's plan cost the host, without a GPU: the time until a step begins to
 * compute, how many steps use the graph of the one before, what attention reads, and what is
 * uploaded for it.
 *
 * The engine follows a GPU's plan on the CPU, over models as deep as real ones and as narrow as a
 * fixture.
 *
 * @module
 */

import type { Engine, EngineStats, ScoreInput } from '../../../src/engine/types.js'
import { type Bench, measure, wants } from '../bench.js'
import { closedEngineLoop, patient, timed, withEngine } from '../engine-load.js'
import { Figures, type Goal } from '../figure.js'
import { quickly } from '../options.js'
import { Requests } from '../requests.js'

const models = ['fixture-28-layers', 'fixture-36-layers'] as const
/** As many as a GPU's context has by default. */
const contextTokens = 32_768
/** Of a pair of a token and a cell, in the mask of flash attention. */
const maskBytes = 2
const clients = 64
/** Of each client. */
const requestsEach = 4

export async function host(bench: Bench): Promise<void> {
  for (const name of models) {
    const model = await bench.model(name)
    const { path: modelPath, threads, kernels } = model
    process.env['OI_TEST_PLAN'] = 'gpu'
    try {
      await withEngine(
        { modelPath, threads, kernels, contextTokens, ...patient },
        async (engine) => {
          const requests = await Requests.create(engine)
          for (const [row, { make, run, goals }] of Object.entries(rows)) {
            if (!wants(bench, row)) continue
            let made: ScoreInput[] = []
            const rounds = await measure(
              bench,
              [{ name: row, run: () => counted(engine, () => run(engine, made)) }],
              async () => {
                made = await make(bench, requests)
              },
            )
            const figures = new Figures('host', rounds)
            for (const [name, unit] of Object.entries(units)) {
              figures.addValues(`${row}: ${name}`, unit, figures.values(name), goals?.[name])
            }
            bench.record(figures.all, model)
          }
        },
      )
    } finally {
      delete process.env['OI_TEST_PLAN']
    }
  }
}

interface Row {
  readonly make: (bench: Bench, requests: Requests) => Promise<ScoreInput[]>
  readonly run: (engine: Engine, inputs: readonly ScoreInput[]) => Promise<unknown>
  readonly goals?: Readonly<Record<string, Goal>>
}

const rows: Readonly<Record<string, Row>> = {
  'one question': {
    make: async ({ options }, requests) => {
      const size = { stateTokens: 60, questions: 1, questionTokens: 40 }
      const pairs = await requests.pairs(quickly(options)(100), size)
      return pairs.map((request) => requests.input(request))
    },
    run: inTurn,
    goals: { 'time before it computes': { atMost: 0.12 } },
  },
  '64 clients': {
    make: async ({ options }, requests) => {
      const size = { stateTokens: 200, questions: 6, questionTokens: 40 }
      const made: ScoreInput[] = []
      for (let i = 0; i < quickly(options)(clients * requestsEach); i++) {
        made.push(requests.input(await requests.make(size)))
      }
      return made
    },
    run: atATime,
    goals: { 'graphs used again': { atLeast: 90 }, 'pairs read / seen': { atMost: 2 } },
  },
  '64 clients, mixed': {
    make: async ({ options }, requests) => {
      const made: ScoreInput[] = []
      for (let i = 0; made.length < quickly(options)(clients * requestsEach); i++) {
        const size = {
          stateTokens: [60, 200, 700][i % 3]!,
          questions: 1 + ((5 * i) % 8),
          questionTokens: 40,
        }
        const request = await requests.make(size)
        made.push(requests.input(request))
        if (i % 2 === 0) made.push(requests.input(await requests.again(request, size)))
      }
      return made
    },
    run: atATime,
    goals: { 'graphs used again': { atLeast: 90 } },
  },
}

async function inTurn(engine: Engine, inputs: readonly ScoreInput[]): Promise<void> {
  for (const input of inputs) await timed(engine, input)
}

function atATime(engine: Engine, inputs: readonly ScoreInput[]): Promise<unknown> {
  const left = inputs.values()
  return closedEngineLoop(engine, clients, () => left.next().value)
}

const units = {
  'time before it computes': 'ms a step',
  'graphs used again': '%',
  'pairs read / seen': '×',
  'cells read': 'a step',
  'mask uploaded': 'bytes a step',
  tokens: 'a step',
  'of these, nobody’s': '%',
} as const

async function counted(engine: Engine, run: () => Promise<unknown>) {
  const before = engine.stats()
  await run()
  const after = engine.stats()
  const grown = (key: keyof EngineStats) => after[key] - before[key]
  const steps = grown('steps')
  const values: Record<keyof typeof units, number> = {
    'time before it computes': grown('submitMs') / steps,
    'graphs used again': (100 * grown('graphsReused')) / steps,
    'pairs read / seen': grown('readPairs') / grown('seenPairs'),
    'cells read': grown('readPairs') / grown('evaluatedTokens'),
    'mask uploaded': (maskBytes * grown('readPairs')) / steps,
    tokens: grown('evaluatedTokens') / steps,
    'of these, nobody’s': (100 * grown('paddingTokens')) / grown('evaluatedTokens'),
  }
  return values
}
