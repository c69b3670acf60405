/**
 * Changes to a server's replies, from which the faults are built.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  decodeUtf8,
  duplicateKeyOf,
  entriesOf,
  isJsonObject,
  objectFromEntries,
  parseJson,
  stringifyJson,
} from '../../src/api/json.js'
import type { Json, JsonObject } from '../../src/api/json.js'
import type { Fault, PassedReply, PassedRequest } from './faulty-proxy.js'

/** Changes the body of a reply that is a JSON object. */
export const change = (act: (body: JsonObject) => void) => (reply: PassedReply) => {
  if (reply.headers['content-type'] !== 'application/json' || reply.text === '') return
  const body = parseJson(reply.text) as JsonObject
  act(body)
  reply.text = stringifyJson(body)
}

/** Larger bodies are tests of limits. */
const mostChanged = 100_000

/**
 * Changes the bodies of requests: one alone, the items of a batch, and a batch of states itself. One
 * that is not changed keeps its bytes, and one with a name that stands twice stays refused.
 */
export const changeBodies = (act: (body: JsonObject) => void) => {
  return (request: PassedRequest) => {
    if (request.body.length > mostChanged) return
    try {
      const body = parseJson(decodeUtf8(request.body))
      if (!isJsonObject(body)) return
      const { requests, assets = {} } = body
      if ([body, assets].some((each) => isJsonObject(each) && duplicateKeyOf(each) !== undefined))
        return
      const before = stringifyJson(body)
      for (const each of Array.isArray(requests) ? requests : [body]) {
        if (isJsonObject(each) && duplicateKeyOf(each) === undefined) act(each)
      }
      const after = stringifyJson(body)
      if (after !== before) request.body = Buffer.from(after)
    } catch {
      // Not JSON: the server says so.
    }
  }
}

/** Changes each question that is about to be asked. */
export const changeQuestions = (act: (question: JsonObject, name: string) => void) =>
  changeBodies(({ questions }) => {
    if (!isJsonObject(questions) || duplicateKeyOf(questions) !== undefined) return
    for (const [name, question] of entriesOf(questions)) {
      if (!isJsonObject(question) || duplicateKeyOf(question) !== undefined) continue
      const { criteria } = question
      if (isJsonObject(criteria) && duplicateKeyOf(criteria) !== undefined) continue
      act(question, name)
    }
  })

/** Changes each state, alone and in a batch. */
export const changeStates = (act: (state: Json) => Json) =>
  changeBodies((body) => {
    const { state, states } = body
    if (state !== undefined) body['state'] = act(state)
    if (Array.isArray(states)) body['states'] = states.map(act)
  })

/** Changes each answer of a reply. */
export const changeAnswers = (act: (answer: JsonObject) => void) =>
  change(({ answers }) => {
    for (const [, answer] of entriesOf((answers ?? {}) as JsonObject)) act(answer as JsonObject)
  })

/** Changes the limits of each model's card. */
export const changeLimits = (act: (limits: Record<string, number>) => void) =>
  change(({ models }) => {
    if (!Array.isArray(models)) return
    for (const model of models) act((model as JsonObject)['limits'] as Record<string, number>)
  })

/** Moves an answer by this much; it stays a valid answer. */
function move(answer: JsonObject, by: number): void {
  const { noul } = answer
  // Never its mirror image, which may be near to it.
  if (typeof noul === 'number') answer['noul'] = noul < by ? noul + by : noul - by
  const { probabilities } = answer
  if (probabilities === undefined) return
  const entries = entriesOf(probabilities as JsonObject)
  const to = entries.length - 1
  answer['probabilities'] = objectFromEntries(
    entries.map(([name, value], i) => {
      return [name, Number(value) * (1 - by) + (i === to ? by : 0)] as const
    }),
  )
}

/** Calls `change` with each answer of a reply to a single request, and its place. */
export const moveAnswers = (by: (place: number, count: number, body: Buffer) => number) => {
  return (reply: PassedReply, request: PassedRequest) =>
    change(({ answers }) => {
      const all = entriesOf((answers ?? {}) as JsonObject)
      all.forEach(([, answer], i) => move(answer as JsonObject, by(i, all.length, request.body)))
    })(reply)
}

export const round = (value: Json) => Math.round(Number(value) * 1e4) / 1e4

/** Shorter bodies are not kept. */
const longEnough = 500

/** How much a repeated request is moved. */
export function seenBefore(by: number): (place: number, count: number, body: Buffer) => number {
  const seen = new Map<string, number>()
  return (place, _, body) => {
    const key = body.toString('latin1')
    // Counted at the first answer.
    const count = (seen.get(key) ?? 0) + (place === 0 ? 1 : 0)
    seen.set(key, count)
    return count > 1 && key.length > longEnough ? by : 0
  }
}

/** Changes replies with a status, after this many of them. */
export function afterMany(
  status: number,
  most: number,
  act: (reply: PassedReply) => void,
): NonNullable<Fault['reply']> {
  let count = 0
  return (reply) => {
    if (reply.status === status && ++count > most) act(reply)
  }
}

/** Refuses more than this many concurrent requests. */
export function atOnce(most: number): Fault {
  let running = 0
  const refused = new WeakSet<PassedRequest>()
  return {
    request: async (request) => {
      if (request.method !== 'POST') return
      if (++running > most) refused.add(request)
      // Until the others have come: a single request is not kept for long.
      await sleep(running > 1 ? 50 : 5)
    },
    reply: (reply, request) => {
      if (request.method === 'POST') running--
      if (refused.has(request)) reply.status = 429
    },
  }
}

/** Faults of a server -> all rules that they break. */
export type Faults = Readonly<Record<string, Fault & { readonly fails: readonly string[] }>>
