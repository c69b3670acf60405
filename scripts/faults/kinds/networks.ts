/**
 * Clients whose networks are slow, or which leave.
 *
 * @module
 */

import type { ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { RawClient } from '../../../test/helpers/raw-client.js'
import type { Workspace } from '../accounts.js'
import { ask, authorization, body, book, path, type Turn } from '../clients.js'
import { type Kind, times } from '../kind.js'
import type { World } from '../world.js'

/** Of a head, from its first byte; and for what the server itself needs under load. */
const mostHeadMs = 10_000 + 10_000

export const slow: Kind = {
  says: 'sends heads and bodies byte by byte, sometimes never to their end; half-closes',
  prepare: (world) => ({
    clients: () => {
      const workspace = world.workspace('slow')
      return [
        ...times(3, () => [trickle(world, workspace), 50] as const),
        ...times(2, () => [halfClose(world, workspace), 20] as const),
        ...times(2, () => [slowHead(world), 50] as const),
      ]
    },
  }),
}

export const leave: Kind = {
  says: 'leaves in the head, in the body, or before the reply',
  prepare: (world) => ({
    clients: () => {
      const workspace = world.workspace('leaving')
      return times(3, () => [leaveAnywhere(world, workspace), 10] as const)
    },
  }),
}

/** A body with a length that its client sends in its own way. */
function send(
  world: World,
  kind: string,
  { name, key }: Workspace,
  how: (out: ClientRequest, text: string) => void,
  headers: Readonly<Record<string, string>> = {},
): Turn {
  return async () => {
    const text = body(world)
    const length = { 'content-length': String(Buffer.byteLength(text)) }
    const outcome = await ask(world, kind, {
      headers: { ...authorization(key), ...length, ...headers },
      send: (out) => how(out, text),
    })
    book(world, kind, name, outcome, { mayEnd: kind !== 'half-closed' })
  }
}

const trickleBytes = 64
const trickleMs = 50

/** Twice as fast as it must be; three in ten stop halfway. */
function trickle(world: World, workspace: Workspace): Turn {
  return send(world, 'trickling', workspace, (out, text) => {
    const stops = world.random.next() < 0.3
    const pieces = async () => {
      const end = stops ? text.length / 2 : text.length
      for (let at = 0; at < end && !out.destroyed; at += trickleBytes) {
        out.write(text.slice(at, at + trickleBytes))
        await sleep(trickleMs)
      }
      if (!stops) out.end()
    }
    void pieces()
  })
}

/** Closes its sending side, and still wants its reply. */
function halfClose(world: World, workspace: Workspace): Turn {
  const how = (out: ClientRequest, text: string) => {
    out.end(text)
    out.on('finish', () => out.socket?.end())
  }
  return send(world, 'half-closed', workspace, how, { connection: 'close' })
}

function leaveAnywhere(world: World, workspace: Workspace): Turn {
  const { random } = world
  return send(world, 'leaving', workspace, (out, text) => {
    out.write(text.slice(0, Math.ceil(1.5 * random.next() * text.length)))
    setTimeout(() => out.destroy(), random.integer(30))
  })
}

/** A byte of a head every half a second: the server must end that, and first say why. */
function slowHead({ port, tally, server, over }: World): Turn {
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-padding: ${'x'.repeat(200)}`
  return async () => {
    const startMs = performance.now()
    const client = await RawClient.connect(port).catch(() => undefined)
    if (client === undefined) return sleep(100)
    for (let at = 0; !client.socket.closed && !client.socket.readableEnded; at++) {
      if (over()) break
      client.send(head[at] ?? '')
      await sleep(500)
      if (performance.now() > startMs + mostHeadMs) {
        tally.violate('a slow head is open for longer than 20 s')
        break
      }
    }
    const status = /^HTTP\/1\.1 (\d+)/.exec(client.rest)?.[1]
    client.socket.destroy()
    if (over() || server.wasAway(startMs)) return
    tally.see('slow heads', status ?? 'unanswered')
    if (status !== '408') tally.violate(`a slow head is answered ${status}`)
  }
}
