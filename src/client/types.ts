/**
 * What the client sends and receives; the types of answers follow from the questions.
 *
 * Types only.
 *
 * @module
 */

import type { AnswersOf, Questions } from '../decide/asked-types.js'
import type { ModelCard as LibraryModelCard, Orders, Usage } from '../decide/types.js'
import type { ImageBlock } from './image.js'
import type { Pictures } from './pictures.js'

export type {
  AnswerOf,
  AnswersOf,
  ChoiceQuestion,
  JsonInput,
  NamedChoiceAnswer,
  NoulQuestion,
  Question,
  Questions,
  ScoreQuestion,
} from '../decide/asked-types.js'

export interface DecideRequest<Q extends Questions = Questions> {
  /** What the questions are about. May hold {@link ImageBlock}s at any depth. */
  readonly state: string | number | boolean | object
  readonly questions: Q
  /** A name or an alias of {@link Client.models}. Default: the server's default model. */
  readonly model?: string | undefined
  /** Images before the state, as data URLs. */
  readonly images?: readonly string[] | undefined
}

/** A model of a server: the server adds limits to the model's own. */
export interface ModelCard extends LibraryModelCard {
  readonly limits: LibraryModelCard['limits'] & {
    /** The largest body of a request or a batch. */
    readonly max_body_bytes: number
    /** The largest body of a reply, which repeats names, options and legends. */
    readonly max_reply_bytes: number
  }
}

/** Token counts. */
export type { Usage }

/** The body of a reply to one request. */
export interface Decision<Q extends Questions = Questions> {
  /** The model that answered, by its own name. */
  readonly model: string
  readonly answers: AnswersOf<Q>
  readonly usage: Usage
  /** The model's time, milliseconds. */
  readonly latency_ms: number
  /** Evidence of the request as a whole, if evidence was asked for. */
  readonly evidence?: { readonly cached_tokens: number; readonly evaluated_tokens: number }
}

export interface DecideReply<Q extends Questions = Questions> extends Decision<Q> {
  /** The request's id in the server's log; undefined if a proxy removed it. */
  readonly requestId: string | undefined
  /** How many of the input tokens came from a cache; undefined if the server is not oi. */
  readonly cachedTokens: number | undefined
}

/** One request of a batch; its result has the same `id`. */
export interface BatchRequest<Q extends Questions = Questions> extends DecideRequest<Q> {
  readonly id?: string | undefined
}

/** The same questions about each of many states. */
export interface BatchOfStates<Q extends Questions = Questions> {
  readonly states: readonly DecideRequest['state'][]
  readonly questions: Q
  readonly model?: string | undefined
}

interface BatchResult {
  /** The index of its request in the batch, from 0. */
  readonly index: number
  readonly id?: string
}

export interface BatchAnswered<Q extends Questions = Questions> extends BatchResult, Decision<Q> {
  readonly status: 200
  readonly error?: undefined
}

/** A refused request of a batch; the others are answered all the same. */
export interface BatchRefused extends BatchResult {
  /** The status that the request alone would have had, 400 to 599. */
  readonly status: number
  readonly error: {
    readonly code: string
    readonly message: string
    readonly type: string
    readonly param?: string
  }
  readonly detail: string
  readonly answers?: undefined
}

/** Answered if its `error` is undefined. */
export type BatchItem<Q extends Questions = Questions> = BatchAnswered<Q> | BatchRefused

export interface BatchTotals {
  /** Sums over the answered requests. */
  readonly usage: Usage
  readonly latency_ms: number
}

export interface BatchReply<Items = readonly BatchItem[]> extends BatchTotals {
  /** In the order of the requests. */
  readonly results: Items
  readonly requestId: string | undefined
  /** Of all requests together; undefined if the server is not oi. */
  readonly cachedTokens: number | undefined
}

/** The item of a batch for one request, with the types of its answers. */
export type ItemOf<Request> = Request extends BatchRequest<infer Q> ? BatchItem<Q> : never

/** The items of a batch, in the order of its requests. */
export type ItemsOf<Requests extends readonly BatchRequest[]> = {
  readonly [Place in keyof Requests]: ItemOf<Requests[Place]>
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, its retries and its waiting. */
  readonly signal?: AbortSignal | undefined
  /**
   * The limit for each attempt, milliseconds; for a stream, the longest silence. Default: the
   * client's.
   */
  readonly timeoutMs?: number | undefined
  /** 1 to 128 letters, digits, `.`, `_`, `-`. Default: the server makes one. */
  readonly requestId?: string | undefined
}

export interface DecideOptions extends CallOptions {
  /** Adds `evidence` to each answer. */
  readonly evidence?: boolean | undefined
  /**
   * The option orders to ask each question in; the answer is their mean. As given (1), forward and
   * reversed (2), or every rotation (`all`). Default: the model's setting.
   */
  readonly orders?: Orders | undefined
}

export interface PictureOptions extends DecideOptions {
  /**
   * Images by name: wherever a name stands in the state, in instructions or in criteria, the model
   * sees the image. Sent as bytes, a quarter shorter than base64.
   */
  readonly pictures?: Pictures | undefined
}

export type { ImageBlock, Orders }
