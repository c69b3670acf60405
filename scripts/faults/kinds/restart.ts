/**
 * The server is ended, by SIGTERM and SIGKILL in turn, and started again on the same data folder.
 *
 * SIGTERM must end it with 0. No process of a model may be left in either case. Of the answers of a
 * workspace without a balance, those of the last moment before SIGKILL need not be booked.
 *
 * @module
 */

import { childrenOf } from '../../bench/proc.js'
import { holdsWithin } from '../../wait.js'
import type { Kind } from '../kind.js'
import type { World } from '../world.js'

/** Time in which an unneeded process must end by itself. */
const orphanMs = 10_000
/** The accounts' guide says 20 ms; the clients' own clock is later than the server's. */
const atRiskMs = 40

export const restart: Kind = {
  says: 'ends the server, by SIGTERM and by SIGKILL in turn, and starts it again',
  prepare: (world) => {
    let isRough = true
    return {
      strike: async () => {
        isRough = !isRough
        await restartServer(world, isRough ? 'SIGKILL' : 'SIGTERM')
      },
    }
  },
}

/** @returns When the server answers again. */
async function restartServer(world: World, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const { server, health, tally, workspaces } = world
  const pids = childrenOf(server.pid!)
  health?.pause()
  await endServer(world, signal)
  if (signal === 'SIGKILL') {
    for (const { name, charged } of workspaces) if (!charged) tally.of(name).forgive(atRiskMs)
  }
  await requireNone(pids, signal, world)
  await server.start()
  health?.resume()
}

/** Ends the server; SIGTERM must end it with 0. */
export async function endServer(
  { server, tally }: World,
  signal: 'SIGTERM' | 'SIGKILL',
): Promise<void> {
  const { how, ms } = await server.stop(signal)
  tally.see('ends', how)
  if (signal === 'SIGTERM' && how !== '0') {
    tally.violate(`SIGTERM ended with ${how} in ${ms.toFixed(0)} ms\n${server.log}`)
  }
}

/** None of these processes may be left after a while. */
export async function requireNone(
  pids: Iterable<number>,
  signal: string,
  { tally }: World,
): Promise<void> {
  let left = [...pids]
  if (await holdsWithin(orphanMs, () => (left = left.filter(isThere)).length === 0)) return
  tally.violate(`${left.length} processes are left over after ${signal}`)
  for (const pid of left) process.kill(pid, 'SIGKILL')
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
