/**
 * One run: the usual clients, those of the chosen faults, and one blow after another.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { batchClient, loop, steadyClient } from './clients.js'
import { IdleServer } from './health.js'
import { judge } from './judge.js'
import { type Client, type Fault, times } from './kind.js'
import { kinds } from './kinds.js'
import { endServer, requireNone } from './kinds/restart.js'
import { Memory } from './memory.js'
import { modelNames, World, type WorldOptions } from './world.js'
import { childrenOf } from '../bench/proc.js'

export interface RunOptions extends WorldOptions {
  /** Names of the kinds of faults. */
  readonly kinds: readonly string[]
  readonly say: (lines: readonly string[]) => void
}

export interface RunReport {
  readonly lines: readonly string[]
  /** In words; empty if all is well. */
  readonly violations: readonly string[]
}

const progressMs = 60_000
/** Seconds between two blows, at most. */
const mostPauseSeconds = 8

export async function run(options: RunOptions): Promise<RunReport> {
  const { say } = options
  const world = new World(options)
  const { tally, server } = world
  const faults = new Map<string, Fault>()
  try {
    for (const name of options.kinds) faults.set(name, await kinds[name]!.prepare(world))
    await server.start()
    const clients = [...usual(world)]
    for (const { clients: others } of faults.values()) clients.push(...((await others?.()) ?? []))
    world.price()
    const memory = new Memory(server)
    await using idle = new IdleServer()
    world.begin(await idle.probe())
    const progress = setInterval(() => say(tally.lines()), progressMs)
    try {
      await Promise.all([
        ...clients.map(([turn, pauseMs]) => loop(world, turn, pauseMs)),
        strike(world, faults),
        memory.watch(world),
      ])
    } catch (error) {
      // Otherwise the others would go on for the rest of the hour.
      world.end()
      throw error
    } finally {
      clearInterval(progress)
      await world.health?.stop()
      await world.idle?.stop()
    }
    world.hangUp()
    await memory.settle()
    await world.heal('at the end')
    const pids = childrenOf(server.pid!)
    await endServer(world, 'SIGTERM')
    await requireNone(pids, 'SIGTERM', world)
    // The next start takes in bookings that could not be written at that end.
    await server.start()
    await endServer(world, 'SIGTERM')
    const lines = [...faults.values()].flatMap((fault) => fault.judge?.() ?? [])
    const report = judge(world, memory, lines)
    say([...report.lines, `${report.violations.length} violations`, ...report.violations])
    return report
  } finally {
    if (server.isRunning) await server.stop('SIGKILL')
    for (const fault of faults.values()) await fault.end?.()
  }
}

/** Requests to both models, with a balance and without one, and batches. */
function usual(world: World): readonly Client[] {
  const [first, second] = modelNames
  const workspaces = modelNames.map((name) => world.workspace(name))
  const free = world.workspace('free', false)
  const batches = world.workspace('batches')
  const steady = (index: 0 | 1, model: string) =>
    steadyClient(world, `${model} model`, workspaces[index]!, { model })
  return [
    ...times(5, () => [steady(0, first), 5] as const),
    ...times(5, () => [steady(1, second), 5] as const),
    ...times(2, () => [steadyClient(world, 'free', free), 10] as const),
    ...times(2, () => [batchClient(world, 'batches', batches), 50] as const),
  ]
}

/** One blow after another, with pauses between them in which all must be well again. */
async function strike(world: World, faults: ReadonlyMap<string, Fault>): Promise<void> {
  const striking = [...faults].filter(([, fault]) => fault.strike !== undefined)
  if (striking.length === 0) return
  let waiting: typeof striking = []
  while (!world.over()) {
    // Each in turn, in another order every time.
    if (waiting.length === 0) waiting = [...striking]
    const [[name, fault]] = waiting.splice(world.random.integer(waiting.length), 1) as [
      [string, Fault],
    ]
    world.tally.see('faults', name)
    await fault.strike!()
    await world.heal(name)
    await sleep(world.upTo(mostPauseSeconds))
  }
}
