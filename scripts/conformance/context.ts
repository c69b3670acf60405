/**
 * The input of a rule: the server, its keys, and helpers for requests.
 *
 * @module
 */

import { keysOf, parseJson } from '../../src/api/json.js'
import type { Json, JsonObject } from '../../src/api/json.js'
import { type Client, type Headers, jsonOf, type Reply, type TimedReply } from './client.js'
import { check, each, equal, list, object, show, text } from './expect.js'

/** Keys of the server. All but the first are for rules that need them. */
export interface Keys {
  readonly key: string
  /** A revoked key. */
  readonly revoked?: string | undefined
  /** Key of a workspace with few requests per minute. */
  readonly limited?: string | undefined
  /** Key of a workspace without balance. */
  readonly empty?: string | undefined
  /** Key of a workspace with fewer places than a batch has items. */
  readonly narrow?: string | undefined
  /** Not a key: an origin that the server admits. */
  readonly origin?: string | undefined
}

/** A model of GET /v1/models, as far as rules use it. */
export interface Card {
  readonly name: string
  readonly aliases: readonly string[]
  readonly default: boolean
  readonly modalities: readonly string[]
  readonly limits: Readonly<Record<string, number>>
}

export interface Answer {
  readonly type: string
  readonly noul?: number
  readonly choice?: string
  readonly score?: number
  readonly probabilities?: Readonly<Record<string, number>>
  readonly legend?: Readonly<Record<string, unknown>>
  readonly confidence?: number
  readonly evidence?: Readonly<Record<string, unknown>>
}

export interface Answered {
  readonly reply: Reply
  readonly model: unknown
  readonly answers: Readonly<Record<string, Answer>>
  readonly usage: Readonly<Record<string, number>>
  readonly latency_ms: unknown
}

type Body = string | Uint8Array

export const decidePath = '/v1/systemone'
export const batchPath = '/v1/systemone/batch'
const json = { 'content-type': 'application/json' }

export class Context {
  readonly client: Client
  readonly keys: Keys
  readonly bearer: Headers
  #cards: Promise<readonly Card[]> | undefined

  constructor(client: Client, keys: Keys) {
    this.client = client
    this.keys = keys
    this.bearer = { authorization: `Bearer ${keys.key}` }
  }

  /** POSTs JSON with the key. */
  post(body: Body, headers: Headers = {}, path = decidePath): Promise<TimedReply> {
    return this.client.send({ path, headers: { ...this.bearer, ...json, ...headers }, body })
  }

  /** GETs with the key. */
  get(path: string): Promise<Reply> {
    return this.client.send({ path, headers: this.bearer })
  }

  /** Sends a request. @throws Failure unless it gets an answer of the right form. */
  async answer(body: string, headers: Headers = {}): Promise<Answered> {
    const reply = await this.post(body, headers)
    check(reply.status === 200, `expected 200, got ${reply.status}: ${reply.text.slice(0, 200)}`)
    const { model, answers, usage, latency_ms } = bodyOf(reply)
    object('answers', answers)
    object('usage', usage)
    return {
      reply,
      model,
      answers: answers as Answered['answers'],
      usage: usage as Answered['usage'],
      latency_ms,
    }
  }

  /** Asks one question, named q. @throws Failure unless it is answered. */
  async answerOne(body: string, headers: Headers = {}): Promise<Answer> {
    const { answers } = await this.answer(body, headers)
    object('answers.q', answers['q'])
    return answers['q']
  }

  /** @throws Failure unless it is refused as `invalid_request`. @param place - In the message. */
  async refuse(body: Body, status: number, place = ''): Promise<Refusal> {
    return refusalOf(await this.post(body), status, 'invalid_request', place)
  }

  /** The longest body that any model reads: 4 MiB, or 64 if one of them sees images. */
  async longestBody(): Promise<number> {
    const sees = (await this.cards()).some(({ modalities }) => modalities?.includes('image'))
    return (sees ? 64 : 4) * 2 ** 20
  }

  /** A request as bytes, with the key. @param fields - Whole lines of its head. */
  written(method: string, path: string, fields = '', body = '', version = '1.1'): string {
    const host = version === '1.1' ? 'host: a\r\n' : ''
    const key = `authorization: ${this.bearer['authorization']}\r\n`
    const head = `${method} ${this.client.target(path)} HTTP/${version}\r\n${host}${key}`
    const length = body === '' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`
    return `${head}${fields}${length}\r\n${body}`
  }

  /** All models, requested once. @throws Failure if their list cannot be read. */
  cards(): Promise<readonly Card[]> {
    return (this.#cards ??= this.#fetchCards())
  }

  /** The default model. */
  async card(): Promise<Card> {
    const card = (await this.cards()).find((each) => each.default)
    check(card !== undefined, 'GET /v1/models: none of the models is the default')
    return card
  }

  async #fetchCards(): Promise<readonly Card[]> {
    const reply = await this.get('/v1/models')
    equal('GET /v1/models: status', reply.status, 200)
    const { models } = bodyOf(reply)
    list('GET /v1/models: models', models)
    return models as Card[]
  }
}

/** The check that each of these bodies is refused. */
export const refused =
  (status: number, place: string, bodies: readonly string[]) =>
  (context: Context): Promise<void> =>
    each(bodies, (body) => context.refuse(body, status, place))

export interface Refusal {
  readonly message: string
  readonly reply: Reply
}

/** @throws Failure unless the reply is an error of this status and code, at this place. */
export function refusalOf(reply: Reply, status: number, code: string, place = ''): Refusal {
  equal('status', reply.status, status)
  const { error } = bodyOf(reply)
  object('error', error)
  equal('error.code', error['code'], code)
  const { message } = error
  text('error.message', message)
  check(message.includes(place), `error.message: expected ${place} in ${show(message)}`)
  return { message, reply }
}

/** The body as an object. @throws Failure if it is not an object. */
export function bodyOf(reply: Reply): Record<string, unknown> {
  const body = jsonOf(reply)
  object('body', body)
  return body
}

/** The numbers of an answer, by the names of its options or levels; that of a yes as `noul`. */
export function numbersOf(answer: Answer | undefined): Readonly<Record<string, number>> {
  object('answer', answer)
  const { noul, probabilities = {} } = answer
  return noul === undefined ? probabilities : { noul }
}

/**
 * The names of an object in the body, in the order of its text, which JavaScript's own reader does
 * not keep.
 */
export function namesIn(reply: Reply, ...path: readonly string[]): readonly string[] {
  let value: Json = parseJson(reply.text)
  for (const step of path) value = (value as JsonObject)[step]!
  object(path.join('.'), value)
  return keysOf(value)
}
