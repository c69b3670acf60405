/**
 * A client of the interface for any runtime that has `fetch`.
 *
 * Rules
 *   1. Web standards only, and no values from outside this folder: every import must load in
 *      browsers and workers (test/unit/structure.test.ts).
 *   2. Fields of replies keep the server's names and values.
 *
 * @module
 */

import { BatchStream } from './batch-stream.js'
import { type ClientOptions, readOptions } from './options.js'
import { formOf } from './pictures.js'
import { readReply } from './reply.js'
import { type Call, Transport } from './transport.js'
import type {
  BatchItem,
  BatchOfStates,
  BatchReply,
  BatchRequest,
  CallOptions,
  DecideOptions,
  DecideReply,
  DecideRequest,
  Decision,
  ItemOf,
  ItemsOf,
  ModelCard,
  PictureOptions,
  Questions,
} from './types.js'
import type { UsageReport } from './usage-report.js'

/**
 * A client of one server and one key. It needs no closing.
 *
 * @throws TypeError naming the option that is wrong.
 * @example
 * ```ts
 * const client = createClient({ baseUrl: 'http://localhost:8080', apiKey: 'oi-…' })
 * const { answers } = await client.decide({
 *   state: 'I was charged twice.',
 *   questions: { refund: { type: 'noul', instructions: 'Is this about money?' } },
 * })
 * answers.refund.noul // a number
 * ```
 */
export function createClient(options: ClientOptions): Client {
  return new Client(options)
}

/** Every method rejects with an `OiRequestError`, after its retries. */
export class Client {
  /** The server's address, without `/v1`. */
  readonly baseUrl: string
  readonly #transport: Transport

  constructor(options: ClientOptions) {
    const settings = readOptions(options)
    this.baseUrl = settings.baseUrl
    this.#transport = new Transport(settings)
  }

  /**
   * Asks questions about one state.
   *
   * @example
   * ```ts
   * const pictures = { 'photo-1': await readFile('receipt.png') }
   * await client.decide({ state: { claim: 'Lunch', photo: 'photo-1' }, questions }, { pictures })
   * ```
   */
  async decide<const Q extends Questions>(
    request: DecideRequest<Q>,
    { pictures, ...options }: PictureOptions = {},
  ): Promise<DecideReply<Q>> {
    const call =
      pictures === undefined
        ? post(decidePath, request, options)
        : { ...options, path: decidePath, body: formOf(request, pictures) }
    const reply = await this.#transport.text({ ...call, state: request.state })
    const decision = readReply<Decision<Q>>(reply, 'answers')
    return { ...decision, requestId: reply.requestId, cachedTokens: reply.cachedTokens }
  }

  /**
   * The same as texts. JavaScript moves names like `"7"` before all others, in requests and in
   * replies; texts keep every order and every digit.
   *
   * @param body - The JSON of a request.
   * @returns The body of the reply, as it came.
   */
  async decideText(body: string, options: DecideOptions = {}): Promise<string> {
    const { text } = await this.#transport.text({ ...options, path: decidePath, body })
    return text
  }

  /**
   * Many requests in one call. Each has its own result. A refused request has an error as its
   * result; it fails no other request, and is not retried.
   *
   * @param batch - Requests, or questions to be asked about each of many states; the server's
   *   `max_batch` limits both.
   */
  batch<const R extends readonly BatchRequest[]>(
    batch: R,
    options?: DecideOptions,
  ): Promise<BatchReply<ItemsOf<R>>>
  batch<const Q extends Questions>(
    batch: BatchOfStates<Q>,
    options?: DecideOptions,
  ): Promise<BatchReply<readonly BatchItem<Q>[]>>
  async batch(
    batch: readonly BatchRequest[] | BatchOfStates,
    options: DecideOptions = {},
  ): Promise<BatchReply<readonly BatchItem[]>> {
    const reply = await this.#transport.text(post(batchPath, envelope(batch), options))
    const body = readReply<BatchReply>(reply, 'results')
    return { ...body, requestId: reply.requestId, cachedTokens: reply.cachedTokens }
  }

  /**
   * The same, each result as soon as it arrives, in any order: `index` is its request's.
   *
   * @example
   * ```ts
   * const stream = client.stream({ states, questions })
   * for await (const item of stream) console.log(item.index, item.status)
   * console.log(stream.totals)
   * ```
   */
  stream<const R extends readonly BatchRequest[]>(
    batch: R,
    options?: DecideOptions,
  ): BatchStream<ItemOf<R[number]>>
  stream<const Q extends Questions>(
    batch: BatchOfStates<Q>,
    options?: DecideOptions,
  ): BatchStream<BatchItem<Q>>
  stream(batch: readonly BatchRequest[] | BatchOfStates, options: DecideOptions = {}): BatchStream {
    const call = { ...post(batchPath, envelope(batch), options), accept: 'application/x-ndjson' }
    return new BatchStream(() => this.#transport.open(call))
  }

  /** The models of the server. */
  async models(options: CallOptions = {}): Promise<readonly ModelCard[]> {
    const reply = await this.#transport.text({ ...options, path: '/v1/models' })
    return readReply<{ models: readonly ModelCard[] }>(reply, 'models').models
  }

  /** Limits, balance and usage of the key's workspace. */
  async usage(options: CallOptions = {}): Promise<UsageReport> {
    const reply = await this.#transport.text({ ...options, path: '/v1/usage' })
    return readReply<UsageReport>(reply, 'limits')
  }
}

const decidePath = '/v1/systemone'
const batchPath = '/v1/systemone/batch'

function post(path: string, body: object, options: DecideOptions): Call {
  return { ...options, path, body: JSON.stringify(body) }
}

function envelope(batch: readonly BatchRequest[] | BatchOfStates): object {
  return Array.isArray(batch) ? { requests: batch } : batch
}
