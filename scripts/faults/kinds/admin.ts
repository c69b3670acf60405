/**
 * Half of a sign-in to the admin API, and a reload of the settings before it ends: once that hung
 * the server for good.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { RawClient, request } from '../../../test/helpers/raw-client.js'
import { runnersOf } from '../../bench/proc.js'
import { holdsWithin } from '../../wait.js'
import { type Kind, times } from '../kind.js'
import type { World } from '../world.js'

const together = 4
/** Within which the server ends what does not go on: `--body-timeout-ms`, and some more. */
const mostOpenMs = 75_000
/** Within which all models are loaded again, however busy the machine is. */
const mostReloadMs = 60_000

export const admin: Kind = {
  says: 'sends halves of requests to the admin API, and reloads the settings by SIGHUP',
  prepare: (world) => {
    let queued = 256
    const open = new Set<RawClient>()
    return {
      strike: async () => {
        await Promise.all(times(together, (i) => half(world, open, i)))
        await sleep(100)
        queued = queued === 256 ? 255 : 256
        world.set({ maxQueued: queued })
        const before = runnersOf(world.server.pid!)
        process.kill(world.server.pid!, 'SIGHUP')
        await sleep(world.upTo(3))
        // Half of them leave, the others are the server's to end.
        for (const client of [...open].slice(0, together / 2)) client.socket.destroy()
        await reloaded(world, before)
      },
      end: () => {
        for (const { socket } of open) socket.destroy()
      },
    }
  },
}

/**
 * Waits until all models have been loaded again, with the other setting: what follows may count
 * their processes.
 */
async function reloaded({ server, tally }: World, before: readonly number[]): Promise<void> {
  const isDone = () => !runnersOf(server.pid!).some((pid) => before.includes(pid))
  if (await holdsWithin(mostReloadMs, isDone, 100)) return
  tally.violate('models are not loaded again within a minute after SIGHUP')
}

/** Opens a connection, and watches that it ends. */
async function half(world: World, open: Set<RawClient>, index: number): Promise<void> {
  const { port, tally, random } = world
  const body = JSON.stringify({ password: 'correct horse battery' })
  const host = { host: `localhost:${port}`, 'content-type': 'application/json' }
  const paths = ['/admin/v1/session', '/admin/v1/session', '/admin/v1/workspaces']
  const text = request('POST', paths[index % paths.length]!, host, body)
  const client = await RawClient.connect(port).catch(() => undefined)
  if (client === undefined) return
  open.add(client)
  client.send(text.slice(0, text.length - 1 - random.integer(body.length)))
  const late = setTimeout(() => {
    tally.violate('half a request to the admin API is open for more than a minute')
  }, mostOpenMs)
  void client.closed.then(() => {
    clearTimeout(late)
    open.delete(client)
  })
}
