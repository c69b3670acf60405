/**
 * Fairness between requests, in the engine without HTTP.
 *
 * A long state among many short requests: they share the model, so the short ones may take twice as
 * long, plus one step that was under way; not as long as the long one. And two workspaces: one that
 * floods must not keep the other from its share.
 *
 * On a small model, so that a state of 12,000 tokens takes seconds.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Engine, EngineStats } from '../../../src/engine/types.js'
import { type Bench, measure, wants } from '../bench.js'
import {
  atOnce,
  closedEngineLoop,
  patient,
  roomFor,
  timed,
  type Timed,
  withEngine,
} from '../engine-load.js'
import { Figures } from '../figure.js'
import { quickly } from '../options.js'
import { Requests } from '../requests.js'
import { median, percentile, quotients } from '../stats.js'

const longTokens = 12_000
const shortRequests = 100
const shortStates = { from: 60, to: 200 }
const shortQuestions = { questions: 3, questionTokens: 20 }

const goldenRatio = (Math.sqrt(5) - 1) / 2

const [calm, flooding] = [1, 2]
const floodClients = 32
const calmRequests = 40

export async function fairness(bench: Bench): Promise<void> {
  const model = await bench.model('fixture-dense-qwen')
  const contextTokens = roomFor(quickly(bench.options)(longTokens))
  const { path: modelPath, threads } = model
  await withEngine({ modelPath, threads, contextTokens, ...patient }, async (engine) => {
    const scene = new Scene(bench, engine, await Requests.create(engine))
    for (const [row, run] of [
      ['long among short', () => scene.longAmongShort()],
      ['workspaces', () => scene.workspaces()],
    ] as const) {
      if (wants(bench, row)) bench.record((await run()).all, model)
    }
  })
}

class Scene {
  readonly #bench: Bench
  readonly #engine: Engine
  readonly #requests: Requests

  constructor(bench: Bench, engine: Engine, requests: Requests) {
    this.#bench = bench
    this.#engine = engine
    this.#requests = requests
  }

  async longAmongShort(): Promise<Figures> {
    const size = quickly(this.#bench.options)
    const count = size(shortRequests)
    const alone = 'of the short ones alone'
    const together = 'of the short ones beside the long one'
    const subjects = [
      {
        name: 'short ones alone',
        run: async () => {
          const all = await atOnce(this.#engine, this.#shorts(count))
          return { [`median ${alone}`]: middle(all), [`p95 ${alone}`]: p95(all) }
        },
      },
      {
        name: 'beside a long one',
        run: async () => {
          const shorts = this.#shorts(count)
          const before = this.#engine.stats()
          const [{ ms, output }, all] = await Promise.all([
            timed(this.#engine, this.#long(size(longTokens))),
            atOnce(this.#engine, shorts),
          ])
          return {
            [`median ${together}`]: middle(all),
            [`p95 ${together}`]: p95(all),
            'the long one': ms,
            'tokens of the long one': output.prefixTokens + output.suffixTokens,
            step: stepMs(before, this.#engine.stats()),
          }
        },
      },
    ]
    const figures = new Figures('fairness', await measure(this.#bench, subjects))
    figures.add('tokens of the long one', 'tokens')
    figures.add('the long one', 'ms')
    figures.add(`median ${alone}`, 'ms')
    figures.add(`median ${together}`, 'ms')
    figures.add(`p95 ${alone}`, 'ms')
    figures.add(`p95 ${together}`, 'ms')
    figures.add('step', 'ms')
    const steps = figures.values('step')
    const allowed = figures.values(`p95 ${alone}`).map((ms, i) => 2 * ms + steps[i]!)
    const shares = quotients(figures.values(`p95 ${together}`), allowed)
    figures.addValues('p95 beside the long one / (2 × p95 alone + a step)', '×', shares, {
      atMost: 1,
    })
    return figures
  }

  async workspaces(): Promise<Figures> {
    const alone = 'p95 of a workspace alone'
    const flooded = 'p95 while another floods'
    const subjects = [
      { name: 'a workspace alone', run: async () => ({ [alone]: p95(await this.#calm()) }) },
      {
        name: 'while another floods',
        run: async () => {
          let over = false
          const next = () => (over ? undefined : this.#short(Math.random()))
          const options = { workspace: flooding }
          const flood = closedEngineLoop(this.#engine, floodClients, next, options)
          try {
            // The flood is there before the first counted request.
            await this.#calm(1)
            return { [flooded]: p95(await this.#calm()) }
          } finally {
            over = true
            await flood
          }
        },
      },
    ]
    const figures = new Figures('fairness', await measure(this.#bench, subjects))
    figures.add(alone, 'ms')
    figures.add(flooded, 'ms')
    figures.addRatio('p95 while another floods / alone', flooded, alone, { atMost: 1.5 })
    return figures
  }

  /**
   * One request at a time, each followed by a pause as long as the request: a workspace that uses
   * at most half of the model, which is its share beside another one.
   */
  async #calm(count = quickly(this.#bench.options)(calmRequests)): Promise<Timed[]> {
    const all: Timed[] = []
    for (let i = 0; i < count; i++) {
      const one = await timed(this.#engine, this.#short(Math.random()), { workspace: calm })
      all.push(one)
      await sleep(one.ms)
    }
    return all
  }

  #shorts(count: number) {
    // All sizes in random order: in ascending order, first come would be shortest first.
    return Array.from({ length: count }, (_, i) => this.#short((i * goldenRatio) % 1))
  }

  /** @param share - 0 to 1, the place in the range of sizes. */
  #short(share: number) {
    const { from, to } = shortStates
    const stateTokens = Math.round(from + share * (to - from))
    return this.#requests.input(this.#requests.rough({ stateTokens, ...shortQuestions }))
  }

  #long(stateTokens: number) {
    const size = { stateTokens, questions: 1, questionTokens: shortQuestions.questionTokens }
    return this.#requests.input(this.#requests.rough(size))
  }
}

function middle(all: readonly Timed[]): number {
  return median(all.map(({ ms }) => ms))
}

function p95(all: readonly Timed[]): number {
  const latencies = all.map(({ ms }) => ms)
  return percentile(latencies, 0.95)
}

/** The mean length of the steps in between, one of which a new request may find under way. */
function stepMs(before: EngineStats, after: EngineStats): number {
  return (after.busyMs - before.busyMs) / (after.steps - before.steps)
}
