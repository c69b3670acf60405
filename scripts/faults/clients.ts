/**
 * Clients of the usual kind, each in its own loop until the end; faults add others.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../test/helpers/random.js'
import { randomText } from '../bench/texts.js'
import type { Workspace } from './accounts.js'
import { exchange, type ExchangeOptions, type Outcome } from './exchange.js'
import type { Usage } from './tally.js'
import type { World } from './world.js'

/** One turn of a client. */
export type Turn = () => Promise<void>

export const path = '/v1/systemone'
const mostRetryMs = 2000
/** Pause before the next request to a server that does not listen. */
const refusedMs = 100
/** How long a proxy may believe a server away that is back, milliseconds. */
const noticeMs = 5000
/** Words of a state, at most. */
const mostWords = 80
/** Requests that are sent again and again, and always have the same answer. */
const knownBodies = 48

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

export function body({ random }: World, model?: string): string {
  return JSON.stringify({ model, state: sentence(random, mostWords), questions: questions(random) })
}

export const authorization = (key: string) => ({ authorization: `Bearer ${key}` })

/** Sends a request, counts its outcome, and waits as told, within bounds. */
export async function ask(
  { port, tally, server }: World,
  kind: string,
  options: Partial<ExchangeOptions>,
): Promise<Outcome> {
  const wasThere = server.isRunning
  const sent = await exchange({ port, path, ...options })
  const isProxys = sent.isProxys && server.wasAway(sent.startMs - noticeMs)
  const lost = wasThere || server.isRunning ? 'unanswered' : 'refused'
  const outcome = isProxys ? ({ ...sent, status: 0, end: lost } as const) : sent
  const { status, end, retryAfterMs, hasId } = outcome
  tally.see(kind, status === 0 ? end : status)
  if (status !== 0 && !hasId) tally.violate(`${kind}: a reply ${status} without an id`)
  await sleep(end === 'refused' ? refusedMs : Math.min(retryAfterMs, mostRetryMs))
  return outcome
}

/**
 * Records an outcome; without a whole reply, `count` answers of `name` are unknown.
 *
 * @param mayEnd - Whether this client's own behaviour may end a connection within a reply.
 */
export function book(
  { tally, server }: World,
  kind: string,
  name: string,
  outcome: Outcome,
  { mayEnd = false, count = 1 } = {},
): void {
  const { end, status } = outcome
  if (end === 'answered') {
    if (status === 200) {
      const { usage } = JSON.parse(outcome.body) as { usage: Usage }
      tally.of(name).add(usage)
    }
    return
  }
  if (end === 'refused') return
  tally.of(name).unknown += count
  if (mayEnd || server.wasKilled(outcome.startMs)) return
  if (end === 'cut') tally.violate(`${kind}: a reply was cut off: ${outcome.error ?? ''}`)
  if (end === 'late') tally.violate(`${kind}: no reply in time`)
}

/** Bodies whose answers are known as soon as they were answered once, by any model and process. */
class KnownBodies {
  readonly #bodies = new Map<number, string>()
  readonly #answers = new Map<number, string>()

  next(world: World, model?: string): { text: string; check: (outcome: Outcome) => void } {
    const { random, tally } = world
    const index = random.integer(knownBodies)
    const known = this.#bodies.get(index) ?? body(world)
    this.#bodies.set(index, known)
    return {
      text: JSON.stringify({ model, ...(JSON.parse(known) as object) }),
      check: ({ end, status, body: reply }) => {
        if (end !== 'answered' || status !== 200) return
        const { answers, usage } = JSON.parse(reply) as Record<string, unknown>
        const text = JSON.stringify({ answers, usage })
        const right = this.#answers.get(index)
        if (right === undefined) this.#answers.set(index, text)
        else if (right !== text) tally.violate(`another answer:\n${text}\nthan:\n${right}`)
      },
    }
  }
}

const known = new KnownBodies()

/** One request after another on a kept connection, every reply read to its end. */
export function steadyClient(
  world: World,
  kind: string,
  { name, key }: Workspace,
  { model, port = world.port }: { model?: string; port?: number } = {},
): Turn {
  const agent = world.agent()
  return async () => {
    const isKnown = world.random.next() < 0.5
    const { text, check } = isKnown
      ? known.next(world, model)
      : { text: body(world, model), check: () => {} }
    const headers = authorization(key)
    const outcome = await ask(world, kind, { port, agent, headers, body: text })
    book(world, kind, name, outcome)
    check(outcome)
  }
}

interface Item {
  readonly status?: number
  readonly usage?: Usage
}

/** Batches of up to 256 items, whole or as lines, sometimes read slowly. */
export function batchClient(
  world: World,
  kind: string,
  { name, key }: Workspace,
  port = world.port,
): Turn {
  const { tally, random } = world
  return async () => {
    const lines = random.next() < 0.5
    const count = 1 + random.integer(random.next() < 0.2 ? 256 : 24)
    const states = Array.from({ length: count }, () => sentence(random, mostWords / 4))
    const headers = { ...authorization(key), ...(lines && { accept: 'application/x-ndjson' }) }
    const outcome = await ask(world, kind, {
      ...{ port, path: `${path}/batch`, headers },
      body: JSON.stringify({ states, questions: questions(random) }),
      ...(random.next() < 0.2 && { readEveryMs: 20 }),
    })
    if (outcome.end !== 'answered') book(world, kind, name, outcome, { count })
    else if (outcome.status === 200) {
      for (const item of itemsOf(outcome.body, lines)) {
        if (item.status === 200) tally.of(name).add(item.usage!)
        if (item.status !== undefined) tally.see(`${kind} items`, item.status)
      }
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
export function wrongKeyClient(world: World, kind: string, port = world.port): Turn {
  const { tally, random } = world
  return async () => {
    const outcome = await ask(world, kind, {
      port,
      headers: authorization(`oi-${'x'.repeat(39)}${1000 + random.integer(9000)}`),
      localAddress: `127.0.0.${10 + random.integer(4)}`,
      body: body(world),
    })
    if (outcome.end === 'answered' && outcome.status !== 401 && outcome.status !== 503) {
      tally.violate(`${kind}: status ${outcome.status} for a wrong key`)
    }
  }
}

/** Invalid requests. */
export function wrongBodyClient(world: World, kind: string, key: string, port = world.port): Turn {
  const bodies = ['{', '{}', '{"state":"s","questions":{}}', '{"state":null,"questions":{"q":1}}']
  return async () => {
    const text = world.random.pick(bodies)
    const { status } = await ask(world, kind, { port, headers: authorization(key), body: text })
    if (status === 200) world.tally.violate(`${kind}: 200 for a wrong body`)
  }
}
