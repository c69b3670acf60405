/**
 * Proxies between clients and the server: nginx and HAProxy with default settings, through which
 * every reply must arrive; and one that cuts connections, behind which a client repeats its request
 * under one Idempotency-Key until it has an answer, which must be charged once.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { cuttingProxy } from '../../../test/helpers/cutting-proxy.js'
import { findProxy, plain, startProxy } from '../../../test/helpers/proxies.js'
import { vacantPort } from '../../../test/helpers/vacant-port.js'
import type { Child } from '../../bench/child.js'
import type { Workspace } from '../accounts.js'
import {
  ask,
  authorization,
  batchClient,
  body,
  book,
  path,
  steadyClient,
  type Turn,
  wrongBodyClient,
  wrongKeyClient,
} from '../clients.js'
import { type Client, type Kind, times } from '../kind.js'
import type { World } from '../world.js'

const names = ['nginx', 'haproxy'] as const

export const proxy: Kind = {
  says: 'sends through nginx and HAProxy (nginx-light, haproxy)',
  lacks: () => names.find((name) => findProxy(name) === undefined),
  prepare: (world) => {
    const running: Child[] = []
    return {
      clients: async () => {
        const workspace = world.workspace('proxied')
        const clients: Client[] = []
        for (const name of names) {
          const port = await vacantPort()
          const options = { folder: world.folder, port, serverPort: world.port }
          running.push(await startProxy(name, plain[name], options))
          clients.push(...times(3, () => [mixedTurn(world, name, workspace, port), 10] as const))
        }
        return clients
      },
      end: () => Promise.all(running.map((child) => child.stop())),
    }
  },
}

/** Mostly single requests; of a hundred, two batches, two wrong keys and ten bad bodies. */
function mixedTurn(world: World, kind: string, workspace: Workspace, port: number): Turn {
  const single = steadyClient(world, kind, workspace, { port })
  const batch = batchClient(world, `${kind} batches`, workspace, port)
  const wrongKey = wrongKeyClient(world, `${kind} wrong keys`, port)
  const wrongBody = wrongBodyClient(world, `${kind} wrong bodies`, workspace.key, port)
  return () => {
    const share = world.random.next()
    if (share < 0.02) return batch()
    if (share < 0.04) return wrongKey()
    return share < 0.14 ? wrongBody() : single()
  }
}

export const retry: Kind = {
  says: 'repeats requests under an Idempotency-Key, through a proxy that cuts connections',
  prepare: (world) => {
    let cutting: Awaited<ReturnType<typeof cuttingProxy>> | undefined
    return {
      clients: async () => {
        cutting = await cuttingProxy(world.port)
        const { port } = cutting
        const workspace = world.workspace('retries')
        return times(3, (i) => [repeat(world, workspace, port, `${i}`), 20] as const)
      },
      judge: () => [`${cutting?.cuts} connections were cut`],
      end: () => cutting?.close(),
    }
  },
}

/** One answer, however often it is asked; one in five is asked by two at the same time. */
function repeat(world: World, { name, key }: Workspace, port: number, id: string): Turn {
  const { tally, random } = world
  let count = 0
  return async () => {
    const text = body(world)
    const headers = { ...authorization(key), 'idempotency-key': `${id}-${++count}` }
    const once = () => ask(world, 'retries', { port, path, headers, body: text, limitMs: 60_000 })
    const startMs = performance.now()
    for (;;) {
      const outcomes = await Promise.all(random.next() < 0.2 ? [once(), once()] : [once()])
      const answer = outcomes.find(({ end, status }) => end === 'answered' && status === 200)
      if (answer !== undefined) {
        if (!['0', '1'].includes(answer.charged ?? '')) {
          tally.violate(`retries: x-oi-charged is ${answer.charged}`)
        }
        book(world, 'retries', name, answer)
        return
      }
      if (world.over()) {
        tally.of(name).unknown++
        return
      }
      if (performance.now() > startMs + 120_000) {
        tally.of(name).unknown++
        tally.violate('retries: no answer within two minutes')
        return
      }
      await sleep(20)
    }
  }
}
