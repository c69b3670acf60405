/**
 * An open model, as the library gives it.
 *
 * @module
 */

import { requireKnownOptions } from './api/known-options.js'
import { requireOrders } from './api/orders.js'
import { checkRequest } from './api/read-request.js'
import type { AskRequest, DecisionOn, Questions } from './decide/asked-types.js'
import type { ModelDecider } from './decide/decide.js'
import { hasRandomWeights } from './decide/model-card.js'
import { OpenRequests } from './decide/open-requests.js'
import type { DecideOptions, Decider, EngineReport, ModelCard, Orders } from './decide/types.js'
import type { Engine, ModelInfo, ScoreInput, ScoreOptions, ScoreOutput } from './engine/types.js'

/** How a model answers: the options that can change while the model stays open. */
export interface Answering {
  /** The name that requests and answers use. Default: the file's name without its ending. */
  name?: string | undefined
  /** Further names under which the model answers. */
  aliases?: readonly string[] | undefined
  /** Whether it answers to `default` and `latest` too. Default true. */
  default?: boolean | undefined
  /**
   * The number of option orders to ask each question in, unless a request sets it. Default: the
   * readout's, else 1.
   */
  orders?: Orders | undefined
  /**
   * A `.json` or `.jinja` file that says how to ask the model. Default: by the model's metadata.
   */
  readout?: string | undefined
  /**
   * The file that `oi calibrate` wrote; `off` for none. Default: the one beside the model,
   * `model.gguf.calibration.json`, if it is there.
   */
  calibration?: string | undefined
  /** Questions in one request, at most. Default 400. */
  maxQuestions?: number | undefined
}

const knownDecideOptions = Object.keys({
  ...{ signal: 0, evidence: 0, orders: 0, workspace: 0, scope: 0 },
  ...{ models: 0, deadlineMs: 0, requestId: 0, parts: 0 },
} satisfies Record<keyof DecideOptions, 0>)

/** The model limits the numbers of questions and options. */
const anyNumber = { maxQuestions: Infinity, maxOptions: Infinity, maxLevels: Infinity }

/** An open model. Close it, or declare it with `await using`. */
export class Oi implements Decider, AsyncDisposable {
  readonly info: ModelInfo
  /** True for the project's own fixtures: their answers mean nothing. */
  readonly randomWeights: boolean
  readonly #engine: Engine
  readonly #prepare: (settings: Answering) => Promise<ModelDecider>
  readonly #running = new OpenRequests()
  #decider: ModelDecider
  #closed: Promise<void> | undefined

  /** @internal Use {@link open}. */
  constructor(
    engine: Engine,
    decider: ModelDecider,
    prepare: (settings: Answering) => Promise<ModelDecider>,
  ) {
    this.#engine = engine
    this.#decider = decider
    this.#prepare = prepare
    this.info = engine.info
    this.randomWeights = hasRandomWeights(engine.info)
  }

  get card(): ModelCard {
    return this.#decider.card
  }

  get models(): readonly ModelCard[] {
    return this.#decider.models
  }

  /** The readout's own temperatures, on top of which a calibration is applied. */
  get temperatures(): ModelDecider['temperatures'] {
    return this.#decider.temperatures
  }

  /** The number of option orders to ask each question in, unless a request sets it. */
  get orders(): ModelDecider['orders'] {
    return this.#decider.orders
  }

  /**
   * Reads readout and calibration again, and prepares to answer by these settings.
   *
   * @returns A function that applies them, from the next request on.
   * @throws As {@link open}: `ERR_READOUT`, `ERR_CALIBRATION`; nothing has changed then.
   * @internal
   */
  async prepare(settings: Answering): Promise<() => void> {
    const decider = await this.#prepare(settings)
    return () => {
      this.#decider = decider
    }
  }

  /**
   * Answers every question about the state. The questions determine the types of the answers.
   *
   * @param request - As the body of `POST /v1/systemone`. JavaScript puts integer-like names
   *   first: to keep another order, parse the request from text with `parseJson`.
   * @throws {@link OiError} `ERR_BODY_INVALID` or `ERR_REQUEST_UNACCEPTABLE` (with `param`),
   *   `ERR_STATE_TOO_LONG`, `ERR_OVERLOADED` (too much is waiting), `ERR_TIMEOUT`, `ERR_ABORTED`,
   *   `ERR_ENGINE_CLOSED`, `ERR_INVALID_ARGUMENT` (`orders`).
   */
  async decide<const Q extends Questions>(
    request: AskRequest<Q>,
    options: DecideOptions = {},
  ): Promise<DecisionOn<Q>> {
    requireKnownOptions('decide()', options, knownDecideOptions)
    requireOrders(options.orders)
    const checked = checkRequest(request, anyNumber)
    const { answersText, ...decision } = await this.#running.run(options.signal, (signal) =>
      this.#decider.decide(checked, { ...options, signal }),
    )
    // An answer for each question, of its type: what deciding does.
    return decision as DecisionOn<Questions> as DecisionOn<Q>
  }

  engines(): readonly EngineReport[] {
    return this.#decider.engines()
  }

  /**
   * The same model for requests that `readRequest` has checked: they are not checked again.
   *
   * @internal
   */
  trusting(): Decider {
    const current = () => this.#decider
    return {
      get models() {
        return current().models
      },
      decide: (request, options) => current().decide(request, options),
      engines: () => current().engines(),
    }
  }

  /**
   * Raw logits of your own prompt parts and token ids, without readout or probabilities.
   *
   * @throws As {@link Engine.score}.
   */
  score(input: ScoreInput, options: ScoreOptions = {}): Promise<ScoreOutput> {
    return this.#running.run(options.signal, (signal) =>
      this.#engine.score(input, { ...options, signal }),
    )
  }

  /** Token ids of each text, for {@link Oi.score}. */
  tokenize(texts: Parameters<Engine['tokenize']>[0]): Promise<Int32Array[]> {
    return this.#engine.tokenize(texts)
  }

  /**
   * Refuses new requests, waits for those under way, for five seconds at most, and frees the model.
   * Those that are not answered by then reject with `ERR_ENGINE_CLOSED`. Idempotent.
   */
  close(): Promise<void> {
    return (this.#closed ??= this.#running.close().then(() => this.#engine.close()))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
