/**
 * A model in a runner, beside the same model in this process.
 *
 * One short request after another, where the way to the other process adds the largest share; and
 * as many at once as keep both busy. In short turns, so that both meet the same machine. On a
 * shared machine, the time of a request outside of the engine says more than its whole time.
 *
 * @module
 */

import type { DecideRequest } from '../../../src/decide/types.js'
import type { Oi } from '../../../src/oi.js'
import { open } from '../../../src/open.js'
import { type Bench, measure } from '../bench.js'
import { Figures } from '../figure.js'
import { eachOf } from '../load.js'
import { treeTime } from '../proc.js'
import { median } from '../stats.js'

/** Requests of a round, for each of the two. */
const requests = 600
/** Turns of a round. */
const turns = 12
const clients = 32
const question = { type: 'noul', instructions: 'Is this about money?' } as const
const mostAddedMs = 0.1
const leastRatio = 0.95

export async function runner(bench: Bench): Promise<void> {
  const model = await bench.model('oi-small')
  const { path, threads, kernels } = model
  const options = { model: path, threads, kernels, maxBacklogMs: 3_600_000 }
  const here = await open(options)
  const there = await open({ ...options, isolate: true })
  const both = { 'in this process': here, 'in a runner': there }
  try {
    const names = Object.keys(both) as (keyof typeof both)[]
    // Until the code of both is compiled.
    for (const name of names) await together(both[name], manyOf(requests))
    const rounds = await measure(bench, [
      {
        name: 'one short request at a time',
        run: async () => {
          const of = names.map((name) => ({ name, took: [] as Took[], cpuMs: 0 }))
          for (let turn = 0; turn < turns; turn++) {
            for (const each of of) {
              const cpuBefore = treeTime(process.pid)
              each.took.push(...(await inTurn(both[each.name], manyOf(requests / turns))))
              each.cpuMs += 1000 * (treeTime(process.pid) - cpuBefore)
            }
          }
          return Object.fromEntries(
            of.flatMap(({ name, took, cpuMs }) => [
              [`one at a time, ${name}`, median(took.map(({ ms }) => ms))],
              [`outside the engine, ${name}`, median(took.map(({ outsideMs }) => outsideMs))],
              [`CPU time of one, ${name}`, cpuMs / requests],
            ]),
          )
        },
      },
      {
        name: `${clients} clients`,
        run: async () => {
          const ms = names.map(() => 0)
          for (let turn = 0; turn < turns; turn++) {
            for (const [i, name] of names.entries()) {
              ms[i]! += await together(both[name], manyOf(requests / turns))
            }
          }
          return Object.fromEntries(
            names.map((name, i) => [`${clients} clients, ${name}`, (1000 * requests) / ms[i]!]),
          )
        },
      },
    ])
    const figures = new Figures('runner', rounds)
    for (const name of names) figures.add(`one at a time, ${name}`, 'ms')
    const [inThis, inRunner] = names.map((name) => figures.values(`one at a time, ${name}`))
    const added = inRunner!.map((ms, round) => ms - inThis![round]!)
    figures.addValues('added by the runner', 'ms', added, { atMost: mostAddedMs })
    for (const name of names) figures.add(`outside the engine, ${name}`, 'ms')
    for (const name of names) figures.add(`CPU time of one, ${name}`, 'ms')
    for (const name of names) figures.add(`${clients} clients, ${name}`, 'decisions/s')
    const [by, of] = names.map((name) => `${clients} clients, ${name}`)
    figures.addRatio('runner / this process', of!, by!, { atLeast: leastRatio })
    bench.record(figures.all, model)
  } finally {
    await Promise.all([here.close(), there.close()])
  }
}

let asked = 0

/** All states differ. */
function manyOf(count: number): DecideRequest[] {
  return Array.from({ length: count }, () => ({
    state: `Order ${asked++}: my card was charged twice for the same thing, please help me.`,
    questions: { refund: question },
  }))
}

interface Took {
  readonly ms: number
  /** The part of it that the engine does not count, its queue included. */
  readonly outsideMs: number
}

async function inTurn(oi: Oi, them: readonly DecideRequest[]): Promise<Took[]> {
  const took: Took[] = []
  for (const request of them) {
    const startMs = performance.now()
    const { timings } = await oi.decide(request)
    const ms = performance.now() - startMs
    took.push({ ms, outsideMs: ms - timings.queue - timings.tokenize - timings.model })
  }
  return took
}

/** @returns Milliseconds for all of them. */
async function together(oi: Oi, them: readonly DecideRequest[]): Promise<number> {
  const next = eachOf(them)
  const startMs = performance.now()
  const client = async () => {
    for (let request = next(); request !== undefined; request = next()) await oi.decide(request)
  }
  await Promise.all(Array.from({ length: clients }, client))
  return performance.now() - startMs
}
