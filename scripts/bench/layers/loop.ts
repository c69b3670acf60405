/**
 * How long the event loop of the whole server is held: the time of `/healthz` beside each kind of
 * load, also of refused requests.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../../../test/helpers/random.js'
import { exchange } from '../../faults/exchange.js'
import { HealthProbe } from '../../faults/health.js'
import { type Bench, measure, wants } from '../bench.js'
import { Figures } from '../figure.js'
import { smallCache, withOiServer } from '../oi-server.js'
import { randomText } from '../texts.js'

const standardSeconds = 5
const mostMs = 50
const path = '/v1/systemone'
/** Sizes just within or just over the server's defaults. */
const [bodyBytes, items, optionsTogether] = [4 * 2 ** 20 - 1024, 256, 16_384]

interface Load {
  readonly name: string
  readonly clients: number
  /** One request. */
  readonly body: () => string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

const random = createRandom(1)
const words = (count: number) => randomText(count, () => random.next())
const noul = { type: 'noul', instructions: 'Is it so?' }

function choice(options: number) {
  const criteria = Object.fromEntries(
    Array.from({ length: options }, (_, i) => [`option ${i}`, null]),
  )
  return { type: 'choice', criteria }
}

const once = (make: () => object) => {
  let text: string | undefined
  return () => (text ??= JSON.stringify(make()))
}

const batchPath = `${path}/batch`
const loads: readonly Load[] = [
  {
    name: 'short requests',
    clients: 32,
    body: () => JSON.stringify({ state: words(40), questions: { q: noul } }),
  },
  {
    name: 'batches of many options',
    clients: 2,
    path: batchPath,
    body: once(() => ({
      states: Array.from({ length: items }, () => words(8)),
      questions: Object.fromEntries(
        Array.from({ length: optionsTogether / items }, (_, i) => [`q${i}`, choice(items - 1)]),
      ),
    })),
  },
  {
    name: 'many questions',
    clients: 2,
    body: once(() => ({
      state: words(20),
      questions: Object.fromEntries(
        Array.from({ length: items }, (_, i) => [`q${i}`, choice(optionsTogether / items)]),
      ),
    })),
  },
  {
    name: 'a question with a long name',
    clients: 2,
    path: batchPath,
    body: once(() => ({
      states: Array.from({ length: items }, () => 'x'),
      questions: { ['n'.repeat(bodyBytes - 4096)]: noul },
    })),
  },
  {
    name: 'states that are too long',
    clients: 4,
    body: once(() => ({ state: 'word '.repeat(bodyBytes / 5), questions: { q: noul } })),
  },
  {
    name: 'states of many values',
    clients: 4,
    body: once(() => ({
      state: Array.from({ length: bodyBytes / 8 }, (_, i) => i % 1000),
      questions: { q: noul },
    })),
  },
  {
    name: 'wrong keys',
    clients: 16,
    headers: { authorization: `Bearer oi-${'x'.repeat(43)}` },
    body: once(() => ({ state: words(10), questions: { q: noul } })),
  },
]

export async function loop(bench: Bench): Promise<void> {
  const model = await bench.model('fixture-small')
  const seconds = bench.options.seconds ?? standardSeconds
  await withOiServer(
    model,
    async ({ port, key }) => {
      const idle: Load = { name: 'nothing', clients: 0, body: () => '' }
      const chosen = [idle, ...loads].filter(({ name }) => wants(bench, name))
      const rounds = await measure(
        bench,
        chosen.map((load) => ({
          name: load.name,
          run: async () => {
            const probe = await beside(load, port, key, seconds)
            return {
              [`median beside ${load.name}`]: probe.quantile(0.5),
              [`p99.9 beside ${load.name}`]: probe.quantile(0.999),
            }
          },
        })),
      )
      const figures = new Figures('loop', rounds)
      for (const { name } of chosen) {
        figures.add(`median beside ${name}`, 'ms')
        figures.add(`p99.9 beside ${name}`, 'ms', { atMost: mostMs })
      }
      bench.record(figures.all, model)
    },
    smallCache,
  )
}

/** Asks `/healthz` while a load lasts. */
async function beside(
  load: Load,
  port: number,
  key: string,
  seconds: number,
): Promise<HealthProbe> {
  const endMs = performance.now() + 1000 * seconds
  const over = () => performance.now() >= endMs
  const headers = { authorization: `Bearer ${key}`, ...load.headers }
  const client = async () => {
    while (!over()) {
      const { retryAfterMs } = await exchange({
        ...{ port, path: load.path ?? path, headers, body: load.body() },
      })
      if (retryAfterMs > 0) await sleep(Math.min(retryAfterMs, 200))
    }
  }
  const probe = new HealthProbe(port)
  await Promise.all([sleep(1000 * seconds), ...Array.from({ length: load.clients }, client)])
  await probe.stop()
  return probe
}
