/**
 * The whole server beside llama-server of the same tree: same model, threads and tokens.
 *
 * For each kind of work several ways of using the peer are tried; the fastest without tuning flags
 * and the fastest of all then run in turn with ours. Only one server works at a time. A replay
 * counts how little ours evaluates (see useful-work.ts).
 *
 * @module
 */

import type { DecideRequest } from '../../../src/decide/types.js'
import { type Bench, measure, wants } from '../bench.js'
import { prepareRequest } from '../connection.js'
import { withVocabulary } from '../engine-load.js'
import { Figures } from '../figure.js'
import { describeUsage, LlamaServer, type Usage } from '../llama-server.js'
import { closedLoop, eachOf } from '../load.js'
import { type OiServer, withOiServer } from '../oi-server.js'
import { Requests } from '../requests.js'
import { usefulWork } from '../useful-work.js'
import { allWork, type Work } from '../work.js'

/** Prompts of a request without any sharing: a rate needs no more. */
const independentPrompts = 4
/** Tries of each way; the least time counts. */
const tries = 2

export async function peer(bench: Bench): Promise<void> {
  const model = await bench.model()
  await withVocabulary(model.path, async (vocabulary) => {
    const requests = await Requests.create(vocabulary)
    for (const work of allWork(requests, bench.options)) {
      if (!wants(bench, work.name)) continue
      bench.say(`  ${work.name}`)
      const rival = new Rival(bench, requests, work)
      const usual = await rival.fastest(work.usages.default)
      const best = await rival.fastest([...work.usages.best, usual])
      bench.note(`peer, ${work.name}: default is ${describeUsage(usual)}`)
      bench.note(`peer, ${work.name}: best is ${describeUsage(best)}`)
      // A new server for each kind of work: none finds another one's states in its cache.
      const figures = await withOiServer(model, (server) =>
        compare(bench, work, rival, server, usual, best),
      )
      const useful = await usefulWork(model, requests, work)
      figures.addValues(`${work.name}: useful work`, '×', [useful], { atLeast: 0.95 })
      bench.record(figures.all, model)
    }
  })
}

async function compare(
  bench: Bench,
  work: Work,
  rival: Rival,
  server: OiServer,
  usual: Usage,
  best: Usage,
): Promise<Figures> {
  const first = (await work.first?.()) ?? []
  await askOurs(server, work, first)
  await using usualServer = await rival.start(usual, first)
  await using bestServer = await rival.start(best, first)
  let round: readonly DecideRequest[] = []
  const subject = (name: string, run: () => Promise<number>) => ({
    name,
    run: async () => ({ [`${work.name}: ${name}`]: (decisions(round) / (await run())) * 1000 }),
  })
  const subjects = [
    subject('ours', () => askOurs(server, work, round)),
    subject('peer, default', () => rival.ask(usualServer, usual, round)),
    subject('peer, best', () => rival.ask(bestServer, best, round)),
  ]
  const { independent } = work.goals
  if (independent !== undefined) {
    subjects.push({
      name: 'peer, nothing shared',
      run: async () => ({
        [`${work.name}: peer, nothing shared`]: await rival.independentRate(usualServer, round),
      }),
    })
  }
  const rounds = await measure(bench, subjects, async () => {
    round = await work.next()
  })

  const figures = new Figures('peer', rounds)
  for (const { name } of subjects) figures.add(`${work.name}: ${name}`, 'decisions/s')
  const against = (name: string, atLeast: number) =>
    figures.addRatio(
      `${work.name}: ours / ${name}`,
      `${work.name}: ours`,
      `${work.name}: ${name}`,
      { atLeast },
    )
  against('peer, default', work.goals.default)
  against('peer, best', work.goals.best)
  if (independent !== undefined) against('peer, nothing shared', independent)
  return figures
}

/** The peer at one kind of work. */
class Rival {
  readonly #bench: Bench
  readonly #requests: Requests
  readonly #work: Work

  constructor(bench: Bench, requests: Requests, work: Work) {
    this.#bench = bench
    this.#requests = requests
    this.#work = work
  }

  /** The way that took least time in any try; a single way is not tried. */
  async fastest(usages: readonly Usage[]): Promise<Usage> {
    let best: { usage: Usage; ms: number } | undefined
    for (const usage of usages.length > 1 ? usages : []) {
      const first = (await this.#work.first?.()) ?? []
      await using server = await this.start(usage, first)
      let ms = Infinity
      for (let i = 0; i < tries; i++) {
        ms = Math.min(ms, await this.ask(server, usage, await this.#work.next()))
      }
      this.#bench.say(`    ${Math.round(ms)} ms with ${describeUsage(usage)}`)
      if (best === undefined || ms < best.ms) best = { usage, ms }
    }
    return best?.usage ?? usages[0]!
  }

  async start(usage: Usage, first: readonly DecideRequest[]): Promise<LlamaServer> {
    const { path, threads } = await this.#bench.model()
    const flags = ['-m', path, '-t', String(threads), ...usage.flags]
    const server = await LlamaServer.start(await this.#bench.tools(), flags)
    await this.ask(server, usage, first)
    return server
  }

  /** @returns Milliseconds. */
  async ask(server: LlamaServer, usage: Usage, these: readonly DecideRequest[]): Promise<number> {
    const clients = await this.#prompts(these)
    if (!this.#work.inTurn) return server.run(clients, usage)
    let ms = 0
    for (const client of clients) ms += await server.run([client], usage)
    return ms
  }

  /** Decisions per second if every question is its own prompt. */
  async independentRate(server: LlamaServer, these: readonly DecideRequest[]): Promise<number> {
    const clients = await this.#prompts(these)
    const some = clients.flat().slice(0, independentPrompts)
    const usage: Usage = { flags: [], order: 'in turn', ownSlots: false }
    return (some.length / (await server.run([some], usage, false))) * 1000
  }

  #prompts(these: readonly DecideRequest[]): Promise<number[][][]> {
    return Promise.all(these.map((request) => this.#requests.prompts(request)))
  }
}

/** @returns Milliseconds. */
export async function askOurs(
  { port, key }: OiServer,
  { inTurn }: Pick<Work, 'inTurn'>,
  these: readonly DecideRequest[],
): Promise<number> {
  if (these.length === 0) return 0
  const bytes = these.map((request) => prepareRequest(key, JSON.stringify(request)))
  const connections = inTurn ? 1 : these.length
  const result = await closedLoop({ port, connections, next: eachOf(bytes) })
  if (result.failures > 0) throw new Error(`The server failed ${result.failures} requests`)
  return result.elapsedMs
}

export function decisions(these: readonly DecideRequest[]): number {
  return these.reduce((sum, { questions }) => sum + Object.keys(questions).length, 0)
}
