/**
 * Shared cores: beside spinning processes, the engine's own number of threads against fixed
 * numbers; and two engines, in one process and in a runner each, against a single one.
 *
 * One thread never waits for another, so the default must not be slower than one thread. On an idle
 * machine all must be as fast as ever: that is the layer engine.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { openEngine } from '../../../src/engine/engine.js'
import type { Engine } from '../../../src/engine/types.js'
import { defaultModelPath } from '../../../src/models/default-model.js'
import { openIsolated } from '../../../src/runner/isolate.js'
import { type Bench, measure, wants } from '../bench.js'
import { Child } from '../child.js'
import { patient } from '../engine-load.js'
import { Figures } from '../figure.js'
import type { ModelFile } from '../model-file.js'
import { Requests } from '../requests.js'

const neighbours = [0, 2, 8]
const clients = 4
const size = { stateTokens: 200, questions: 2, questionTokens: 20 }
const types = ['Q8_0', 'BF16']
const atLeastOfBest = 0.8
const atLeastTogether = 0.9
/** Requests of one measurement: some steps of the larger model beside eight processes. */
const defaultSeconds = 4
/** In case this process ends without stopping them. */
const spinLimitMs = 600_000

interface Loaded {
  readonly name: string
  readonly engine: Engine
  readonly requests: Requests
}

export async function contention(bench: Bench): Promise<void> {
  const real = await bench.model('qwen3-0.6b', types[0])
  const small: ModelFile = { ...real, path: defaultModelPath, description: 'small' }
  if (wants(bench, 'small')) bench.record((await beside(bench, 'small', small)).all, small)
  for (const type of types) {
    const name = `0.6B ${type}`
    if (!wants(bench, name)) continue
    const model = await bench.model('qwen3-0.6b', type)
    bench.record((await beside(bench, name, model)).all, model)
  }
  for (const [name, model, open] of [
    ['two engines', small, openEngine],
    ['two runners', small, openIsolated],
    [`two runners of ${types[0]}`, real, openIsolated],
  ] as const) {
    if (wants(bench, name)) bench.record((await together(bench, name, model, open)).all, model)
  }
}

async function beside(bench: Bench, model: string, file: ModelFile): Promise<Figures> {
  const threads = [...new Set([1, file.threads])]
  const loaded: Loaded[] = []
  try {
    for (const count of threads) loaded.push(await load(`${count} threads`, file, count))
    loaded.push(await load('default', file, undefined))
    const figure = (count: number, name: string) => `${model} beside ${count}: ${name}`
    const subjects = neighbours.flatMap((count) =>
      loaded.map((each) => ({
        name: figure(count, each.name),
        run: async () => {
          const [rate] = await besideSpinning(count, () => rates(bench, [each]))
          return { [figure(count, each.name)]: rate! }
        },
      })),
    )
    const figures = new Figures('contention', await measure(bench, subjects))
    for (const count of neighbours) {
      const names = loaded.map(({ name }) => figure(count, name))
      for (const name of names) figures.add(name, 'tokens/s')
      const chosen = names.at(-1)!
      const best = figures.best(names.slice(0, -1))
      figures.addRatio(figure(count, 'default / best'), chosen, best, { atLeast: atLeastOfBest })
    }
    return figures
  } finally {
    for (const { engine } of loaded) await engine.close()
  }
}

async function together(
  bench: Bench,
  name: string,
  file: ModelFile,
  open: typeof openEngine,
): Promise<Figures> {
  const both: Loaded[] = []
  try {
    for (const each of ['first', 'second']) both.push(await load(each, file, undefined, open))
    const subjects = [
      {
        name: `${name}: one`,
        run: async () => ({ one: (await rates(bench, both.slice(0, 1)))[0]! }),
      },
      {
        name,
        run: async () => {
          const [first, second] = (await rates(bench, both)) as [number, number]
          return { two: first + second, less: Math.min(first, second) }
        },
      },
    ]
    const figures = new Figures('contention', await measure(bench, subjects))
    figures.addValues(`${name}: one alone`, 'tokens/s', figures.values('one'))
    figures.addValues(`${name}: both together`, 'tokens/s', figures.values('two'))
    figures.addRatio(`${name}: both / one alone`, 'two', 'one', { atLeast: atLeastTogether })
    figures.addRatio(`${name}: the slower / both`, 'less', 'two', { atLeast: 0.25 })
    return figures
  } finally {
    for (const { engine } of both) await engine.close()
  }
}

async function load(
  name: string,
  { path, kernels }: ModelFile,
  threads: number | undefined,
  open = openEngine,
): Promise<Loaded> {
  const engine = await open({ modelPath: path, kernels, threads, ...patient })
  return { name, engine, requests: await Requests.create(engine) }
}

/** Tokens per second of each engine under load, all at once. */
async function rates({ options }: Bench, loaded: readonly Loaded[]): Promise<number[]> {
  const tokens = loaded.map(() => 0)
  const startMs = performance.now()
  let over = false
  const client = async ({ engine, requests }: Loaded, i: number) => {
    while (!over) {
      const output = await engine.score(requests.input(requests.rough(size)))
      tokens[i]! += output.prefixTokens + output.suffixTokens - output.cachedTokens
    }
  }
  const all = Promise.all(
    loaded.flatMap((each, i) => Array.from({ length: clients }, () => client(each, i))),
  )
  await sleep((options.seconds ?? defaultSeconds) * 1000)
  over = true
  await all
  const seconds = (performance.now() - startMs) / 1000
  return tokens.map((evaluated) => evaluated / seconds)
}

/** Runs beside this many processes that use a whole core each, if they get one. */
async function besideSpinning<T>(count: number, run: () => Promise<T>): Promise<T> {
  const loop = `const end = Date.now() + ${spinLimitMs}; while (Date.now() < end);`
  const children = Array.from({ length: count }, () => new Child(process.execPath, ['-e', loop]))
  try {
    return await run()
  } finally {
    await Promise.all(children.map((child) => child.stop()))
  }
}
