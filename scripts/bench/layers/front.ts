/**
 * The server without a model, on uWebSockets.js and on node:http in turn: one core for the
 * server, another for the load.
 *
 * Two rates: by the clock, and by the CPU time of the server's process, which the load generator
 * cannot hold back.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { probe } from '../../build/run.js'
import { type Bench, measure } from '../bench.js'
import { Child } from '../child.js'
import { type Figure, Figures, type Goal } from '../figure.js'
import type { LoadResult } from '../load.js'
import { hasProc, processTime } from '../proc.js'

const run = promisify(execFile)
const warmUpSeconds = 2
const standardSeconds = 5

const script = (name: string) => fileURLToPath(new URL(`../${name}.js`, import.meta.url))

export async function front(bench: Bench): Promise<void> {
  const pins = availableParallelism() > 1 && probe('taskset') !== undefined
  if (!pins) bench.note('front: server and load share cores, as there is no taskset or no core')
  const onCore = (core: number, ...args: string[]): [string, string[]] =>
    pins ? ['taskset', ['-c', String(core), process.execPath, ...args]] : [process.execPath, args]

  await using uws = new Child(...onCore(0, script('front-server'), 'uws'))
  await using node = new Child(...onCore(0, script('front-server'), 'node'))
  const subjects = [
    { name: 'uWebSockets.js', child: uws },
    { name: 'node:http', child: node },
  ]
  const measured = subjects.map(async ({ name, child }) => {
    const [line] = await child.match(/^\{.*\}$/m)
    const { port, key } = JSON.parse(line) as { port: number; key: string }
    const load = async (seconds: number) => {
      const args = [script('front-load'), String(port), key, String(seconds)]
      const { stdout } = await run(...onCore(1, ...args))
      return JSON.parse(stdout) as LoadResult
    }
    return {
      name,
      run: () => once(name, child.pid!, () => load(bench.options.seconds ?? standardSeconds)),
      load,
    }
  })
  const ready = await Promise.all(measured)
  for (const { name, load } of ready) {
    bench.say(`  warming up ${name}`)
    await load(warmUpSeconds)
  }
  bench.record(figuresOf(new Figures('front', await measure(bench, ready))))
}

async function once(name: string, pid: number, load: () => Promise<LoadResult>) {
  const before = hasProc ? processTime(pid) : NaN
  const { requests, failures, requestsPerSecond, latencyMs } = await load()
  const cpuSeconds = (hasProc ? processTime(pid) : NaN) - before
  if (failures > 0) throw new Error(`${name}: ${failures} of ${requests} requests failed`)
  return {
    [`${name}, by the clock`]: requestsPerSecond,
    [`${name}, by CPU time`]: requests / cpuSeconds,
    [`${name}, latency p99`]: latencyMs.p99,
  }
}

function figuresOf(figures: Figures): readonly Figure[] {
  const [ours, theirs] = ['uWebSockets.js', 'node:http']
  const compare = (how: string, least?: Goal, leastRatio?: Goal) => {
    figures.add(`${ours}, ${how}`, 'requests/s', least)
    figures.add(`${theirs}, ${how}`, 'requests/s')
    const ratio = `${ours} / ${theirs}, ${how}`
    figures.addRatio(ratio, `${ours}, ${how}`, `${theirs}, ${how}`, leastRatio)
  }
  compare('by the clock', { atLeast: 15_000 }, { atLeast: 1.3 })
  if (hasProc) compare('by CPU time')
  figures.add(`${ours}, latency p99`, 'ms')
  figures.add(`${theirs}, latency p99`, 'ms')
  return figures.all
}
