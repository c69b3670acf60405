/**
 * The whole server under thousands of mixed requests of several workspaces: memory stays flat,
 * nothing stays open, every request has the right status.
 *
 * On a small model: many requests matter here, not many tokens.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Bench, measureOnce } from '../bench.js'
import { broken, Connection } from '../connection.js'
import { Figures } from '../figure.js'
import { addMemory, MemoryWatch } from '../memory-watch.js'
import { type OiServer, patientSettings, smallCache, withOiServer } from '../oi-server.js'
import { hasProc, openHandles } from '../proc.js'
import { Traffic } from '../traffic.js'

const clients = 16
const workspaces = ['first', 'second', 'third']
const seed = 1
/** Asked before handles are counted: handles of the first requests stay open. */
const warmUpRequests = 50
/** Time for the remains of clients that left. */
const maxSettleMs = 5000

/**
 * States fill a cache up to its limit: a small cache is full before the first measurement of
 * memory.
 */
const settings = [...patientSettings, ...smallCache]

export async function soak(bench: Bench): Promise<void> {
  const model = await bench.model('fixture-small')
  const { requests } = bench.options
  const rounds = await withOiServer(
    model,
    (server) =>
      measureOnce(bench, {
        name: `${requests.toLocaleString('en')} requests`,
        run: () => visits(bench, server),
      }),
    settings,
  )
  const figures = new Figures('soak', rounds)
  figures.add('requests', 'requests')
  figures.add('failures', 'requests', { atMost: 0 })
  figures.add('rate', 'requests/s')
  if (hasProc) {
    addMemory(figures)
    figures.add('handles before', 'handles')
    figures.add('handles left', 'handles', { atMost: 0 })
  }
  bench.record(figures.all, model)
}

async function visits(bench: Bench, server: OiServer): Promise<Record<string, number>> {
  const keys = [server.key, ...workspaces.map((name) => server.createKey(name))]
  const traffic = new Traffic(keys, seed)
  const { requests } = bench.options
  await send(traffic, server.port, warmUpRequests)
  const handlesBefore = hasProc ? await settledHandles(server.pid, 0) : NaN

  using memory = hasProc ? new MemoryWatch(server.pid) : undefined
  const startMs = performance.now()
  const failures = await send(traffic, server.port, requests)
  const rate = (requests / (performance.now() - startMs)) * 1000
  const memoryValues = memory?.values()

  for (const what of new Set(failures)) bench.note(`soak: requests were ${what}`)
  return {
    requests,
    rate,
    failures: failures.length,
    ...memoryValues,
    ...(hasProc && {
      'handles before': handlesBefore,
      'handles left': (await settledHandles(server.pid, handlesBefore)) - handlesBefore,
    }),
  }
}

/** @returns What went wrong, for each failed request. */
async function send(traffic: Traffic, port: number, count: number): Promise<string[]> {
  const failures: string[] = []
  let left = count
  const client = async (connection: Connection) => {
    while (left-- > 0) {
      const { bytes, status, leaveAfterMs } = traffic.next()
      if (status === undefined) {
        await connection.leave(bytes, leaveAfterMs)
        continue
      }
      const reply = await connection.exchange(bytes).catch(() => broken)
      if (reply.status !== status) failures.push(`answered ${reply.status}, not ${status}`)
    }
  }
  await Connection.withPool(port, clients, (pool) => Promise.all(pool.map(client)))
  return failures
}

/** The fewest open handles before the time is over, or the first that are few enough. */
async function settledHandles(pid: number, enough: number): Promise<number> {
  let fewest = Infinity
  for (let ms = 0; ms <= maxSettleMs && fewest > enough; ms += 100) {
    await sleep(100)
    fewest = Math.min(fewest, openHandles(pid))
  }
  return fewest
}
