/**
 * Kinds of clients, good and bad, each in its own loop until the end.
 *
 * @module
 */

import { Agent, type ClientRequest } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../test/helpers/random.js'
import { randomText } from '../bench/texts.js'
import type { Workspace } from './accounts.js'
import { exchange, type ExchangeOptions, type Outcome } from './exchange.js'
import type { Tally, Usage } from './tally.js'

export interface World {
  readonly port: number
  readonly tally: Tally
  readonly random: Random
  /** Words of a state, at most. */
  readonly words: number
  /** The requested model. Default: the server's. */
  readonly model?: string
  /** True from the moment at which clients should stop. */
  readonly over: () => boolean
}

/** One turn of a client. */
export type Turn = () => Promise<void>

const path = '/v1/systemone'
const mostRetryMs = 2000
/** Pause before the next request to a server that does not listen. */
const refusedMs = 100

/** Repeats a client's turn until the end. */
export async function loop({ over }: World, turn: Turn, pauseMs: number): Promise<void> {
  while (!over()) {
    await turn()
    if (pauseMs > 0) await sleep(pauseMs)
  }
}

function sentence(random: Random, words: number): string {
  return randomText(1 + random.integer(words), () => random.next())
}

function questions(random: Random) {
  const instructions = sentence(random, 12)
  const kinds = [
    { type: 'noul', instructions },
    { type: 'choice', instructions, criteria: { a: 'one', b: null, c: sentence(random, 4) } },
    { type: 'score', instructions, criteria: ['none', 'some', 'much'] },
  ]
  const count = 1 + random.integer(3)
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`q${i}`, random.pick(kinds)]))
}

function body({ random, words, model }: World): string {
  return JSON.stringify({ model, state: sentence(random, words), questions: questions(random) })
}

const authorization = (key: string) => ({ authorization: `Bearer ${key}` })

/** Counts the outcome of a request, and waits as told, within bounds. */
async function see(tally: Tally, kind: string, outcome: Outcome): Promise<void> {
  const { status, end, retryAfterMs, hasId } = outcome
  tally.see(kind, status === 0 ? end : status)
  if (status !== 0 && !hasId) tally.violate(`${kind}: a reply ${status} without an id`)
  await sleep(end === 'refused' ? refusedMs : Math.min(retryAfterMs, mostRetryMs))
}

/** One request after another on a kept connection, every reply read to its end. */
export function steadyClient(world: World, kind: string, { name, key }: Workspace): Turn {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const { port, tally } = world
  return async () => {
    const headers = authorization(key)
    const outcome = await exchange({ port, agent, path, headers, body: body(world) })
    await see(tally, kind, outcome)
    book(tally, kind, name, outcome)
  }
}

/** Records an outcome; without a whole reply, `name`'s answers are unknown. */
function book(tally: Tally, kind: string, name: string, outcome: Outcome): void {
  const workspace = tally.of(name)
  if (outcome.end === 'answered') {
    if (outcome.status !== 200) return
    workspace.add((JSON.parse(outcome.body) as { usage: Usage }).usage)
    return
  }
  if (outcome.end === 'refused') return
  workspace.unknown++
  if (outcome.end === 'cut') tally.violate(`${kind}: a reply was cut off: ${outcome.error ?? ''}`)
  if (outcome.end === 'late') tally.violate(`${kind}: no reply in time`)
}

interface Item {
  readonly status?: number
  readonly usage?: Usage
}

/** Batches of up to 256 items, whole or as lines, sometimes read slowly. */
export function batchClient(world: World, kind: string, { name, key }: Workspace): Turn {
  const { port, tally, random } = world
  return async () => {
    const lines = random.next() < 0.5
    const count = 1 + random.integer(random.next() < 0.2 ? 256 : 24)
    const states = Array.from({ length: count }, () => sentence(random, world.words))
    const headers = { ...authorization(key), ...(lines && { accept: 'application/x-ndjson' }) }
    const outcome = await exchange({
      ...{ port, path: `${path}/batch`, headers },
      body: JSON.stringify({ states, questions: questions(random) }),
      ...(random.next() < 0.2 && { readEveryMs: 20 }),
    })
    await see(tally, kind, outcome)
    if (outcome.status === 200 && outcome.end === 'answered') {
      for (const item of itemsOf(outcome.body, lines)) {
        if (item.status === 200) tally.of(name).add(item.usage!)
        if (item.status !== undefined) tally.see(`${kind} items`, item.status)
      }
    } else if (outcome.end !== 'answered' && outcome.end !== 'refused') {
      tally.of(name).unknown += count
      if (outcome.end === 'cut')
        tally.violate(`${kind}: a reply was cut off: ${outcome.error ?? ''}`)
      if (outcome.end === 'late') tally.violate(`${kind}: no reply in time`)
    }
  }
}

function itemsOf(text: string, lines: boolean): Item[] {
  if (!lines) return (JSON.parse(text) as { results: Item[] }).results
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Item)
}

/** Unknown keys from many addresses: always 401. */
export function wrongKeyClient(world: World, kind: string): Turn {
  const { port, tally, random } = world
  return async () => {
    const headers = authorization(`oi-${'x'.repeat(39)}${1000 + random.integer(9000)}`)
    const localAddress = `127.0.0.${10 + random.integer(4)}`
    const outcome = await exchange({ port, path, headers, body: body(world), localAddress })
    await see(tally, kind, outcome)
    if (outcome.end === 'answered' && outcome.status !== 401 && outcome.status !== 503) {
      tally.violate(`${kind}: status ${outcome.status} for a wrong key`)
    }
  }
}

/** Invalid requests. */
export function wrongBodyClient({ port, tally, random }: World, kind: string, key: string): Turn {
  const bodies = ['{', '{}', '{"state":"s","questions":{}}', '{"state":null,"questions":{"q":1}}']
  return async () => {
    const request: ExchangeOptions = {
      port,
      path,
      headers: authorization(key),
      body: random.pick(bodies),
    }
    const outcome = await exchange(request)
    await see(tally, kind, outcome)
    if (outcome.status === 200) tally.violate(`${kind}: 200 for a wrong body`)
  }
}

/** Sends a request and leaves at any moment. */
export function leavingClient(world: World, kind: string, { name, key }: Workspace): Turn {
  const { port, tally, random } = world
  return async () => {
    const text = body(world)
    const share = 1.5 * random.next()
    const outcome = await exchange({
      ...{ port, path, headers: { ...authorization(key), 'content-length': lengthOf(text) } },
      limitMs: 20_000,
      send: (out) => {
        out.write(text.slice(0, Math.ceil(share * text.length)))
        setTimeout(() => out.destroy(), random.integer(30))
      },
    })
    await see(tally, kind, outcome)
    if (outcome.end === 'answered' && outcome.status === 200) {
      tally.of(name).add((JSON.parse(outcome.body) as { usage: Usage }).usage)
    } else if (outcome.end !== 'refused') tally.of(name).unknown++
  }
}

/** Sends its body in trickles, and sometimes never to its end. */
export function tricklingClient(world: World, kind: string, { name, key }: Workspace): Turn {
  const { port, tally, random } = world
  return async () => {
    const text = body(world)
    const stops = random.next() < 0.3
    const outcome = await exchange({
      ...{ port, path, headers: { ...authorization(key), 'content-length': lengthOf(text) } },
      send: (out) => void trickle(out, text, stops),
    })
    await see(tally, kind, outcome)
    if (outcome.end === 'answered' && outcome.status === 200) {
      tally.of(name).add((JSON.parse(outcome.body) as { usage: Usage }).usage)
    } else if (outcome.end !== 'refused') tally.of(name).unknown++
  }
}

const trickleBytes = 64
const trickleMs = 50

async function trickle(out: ClientRequest, text: string, stops: boolean): Promise<void> {
  const end = stops ? text.length / 2 : text.length
  for (let at = 0; at < end && !out.destroyed; at += trickleBytes) {
    out.write(text.slice(at, at + trickleBytes))
    await sleep(trickleMs)
  }
  if (!stops) out.end()
}

/** Closes its sending side, and still wants its reply. */
export function halfClosedClient(world: World, kind: string, { name, key }: Workspace): Turn {
  const { port, tally } = world
  return async () => {
    const text = body(world)
    const outcome = await exchange({
      ...{ port, path },
      headers: { ...authorization(key), 'content-length': lengthOf(text), connection: 'close' },
      send: (out) => {
        out.end(text)
        out.on('finish', () => out.socket?.end())
      },
    })
    await see(tally, kind, outcome)
    book(tally, kind, name, outcome)
  }
}

function lengthOf(text: string): string {
  return String(Buffer.byteLength(text))
}
