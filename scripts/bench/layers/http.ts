/**
 * The whole server, beside the engine in this process with the same requests.
 *
 * Requests with a new state, and requests with new questions about it, in turn. The peak is
 * measured with a few requests always waiting; latencies at 80 % of it, and for one short request
 * at a time, where HTTP adds the largest share. That also on the small model of the package: while
 * a large model is evaluated on a CPU, its weights push everything else out of the caches, and the
 * server and the load generator begin each request cold.
 *
 * @module
 */

import type { DecideRequest } from '../../../src/decide/types.js'
import type { Engine } from '../../../src/engine/types.js'
import { defaultModelPath } from '../../../src/models/default-model.js'
import { type Bench, measure } from '../bench.js'
import { prepareRequest, type Reply } from '../connection.js'
import { patient, peakRate, withEngine } from '../engine-load.js'
import { Figures } from '../figure.js'
import { closedLoop, eachOf, type LoadResult, openLoop, times } from '../load.js'
import { type OiServer, withOiServer } from '../oi-server.js'
import { Requests } from '../requests.js'
import { median } from '../stats.js'

/** States of one round; each is asked twice. */
const states = 3
/** Requests under way at the peak: the engine never waits for the next one. */
const clients = 4
/** Share of the peak at which latencies are measured. */
const openShare = 0.8
const openClients = 32
const short = { stateTokens: 60, questions: 1, questionTokens: 40 }
const shortRequests = 20
const smallModelRequests = 1000
/** Compiles the load generator's own code first: its cost is not the server's. */
const clientWarmUpRequests = 5000

export async function http(bench: Bench): Promise<void> {
  const model = await bench.model()
  const { path: modelPath, threads, kernels } = model
  await withEngine({ modelPath, threads, kernels, ...patient }, async (engine) => {
    const figures = await withOiServer(model, (server) =>
      withOiServer({ ...model, path: defaultModelPath }, (smallModel) =>
        measured(bench, engine, { server, smallModel }),
      ),
    )
    bench.record(figures.all, model)
  })
}

interface Servers {
  readonly server: OiServer
  readonly smallModel: OiServer
}

async function measured(bench: Bench, engine: Engine, { server, smallModel }: Servers) {
  const requests = await Requests.create(engine)
  let long: DecideRequest[] = []
  // New ones: requests of the closed loop may still be in the server's cache.
  let scheduled: DecideRequest[] = []
  let small: DecideRequest[] = []
  let many: DecideRequest[] = []
  const prepare = async () => {
    long = await requests.pairs(states, bench.options)
    scheduled = await requests.pairs(states, bench.options)
    small = []
    for (let i = 0; i < shortRequests; i++) small.push(await requests.make(short))
    many = Array.from({ length: smallModelRequests }, () => requests.rough(short))
  }
  const load = (these: readonly DecideRequest[], connections: number, { key, port } = server) => {
    const bytes = these.map((request) => prepareRequest(key, JSON.stringify(request)))
    const added: number[] = []
    const onReply = (reply: Reply, latencyMs: number) =>
      added.push(latencyMs - timingOf(reply, ['queue', 'tokenize', 'model']))
    return { target: { port, connections, next: eachOf(bytes), onReply }, added }
  }

  let peak = 0
  const subjects = [
    {
      name: 'engine',
      run: async () => {
        const inputs = long.map((request) => requests.input(request))
        return { 'engine, peak': await peakRate(engine, clients, inputs) }
      },
    },
    {
      name: 'server, closed loop',
      run: async () => {
        const { target } = load(long, clients)
        peak = rateOf(await closedLoop(target), long.length)
        return { 'server, peak': peak }
      },
    },
    {
      name: 'server, open loop',
      run: async () => {
        const { target, added } = load(scheduled, openClients)
        const result = await openLoop(target, openShare * peak)
        rateOf(result, scheduled.length)
        return {
          'latency p50 at 80 % of the peak': result.latencyMs.p50,
          'latency p99 at 80 % of the peak': result.latencyMs.p99,
          'added p50 at 80 % of the peak': median(added),
        }
      },
    },
    {
      name: 'server, short requests',
      run: async () => {
        const { target, added } = load(small, 1)
        rateOf(await closedLoop(target), small.length)
        return { 'added p50, one short request': median(added) }
      },
    },
    {
      name: 'server of the small model, short requests',
      run: async () => {
        const { target, added } = load(many, 1, smallModel)
        rateOf(await closedLoop(target), many.length)
        return { 'added p50, one short request to the small model': median(added) }
      },
    },
  ]
  const health = times(clientWarmUpRequests, () => healthRequest)
  await closedLoop({ port: server.port, connections: clients, next: health })
  const figures = new Figures('http', await measure(bench, subjects, prepare))
  figures.add('engine, peak', 'requests/s')
  figures.add('server, peak', 'requests/s')
  figures.addRatio('server / engine', 'server, peak', 'engine, peak', { atLeast: 0.95 })
  figures.add('latency p50 at 80 % of the peak', 'ms')
  figures.add('latency p99 at 80 % of the peak', 'ms')
  figures.add('added p50 at 80 % of the peak', 'ms', { atMost: 0.5 })
  figures.add('added p50, one short request', 'ms', { atMost: 0.5 })
  figures.add('added p50, one short request to the small model', 'ms', { atMost: 0.5 })
  return figures
}

const healthRequest = Buffer.from('GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n')

/** Exact, unlike the load generator's rounded value. */
function rateOf({ requests, failures, elapsedMs }: LoadResult, expected: number): number {
  if (failures > 0 || requests !== expected) {
    throw new Error(`The server failed ${failures} of ${requests} requests`)
  }
  return (requests / elapsedMs) * 1000
}

/** Milliseconds that the server reports for these, in `server-timing`. */
function timingOf({ head }: Reply, names: readonly string[]): number {
  return names.reduce((sum, name) => {
    const match = head.match(new RegExp(`[ ,]${name};dur=([\\d.]+)`))
    if (match === null) throw new Error(`No ${name} in server-timing: ${head}`)
    return sum + Number(match[1])
  }, 0)
}
