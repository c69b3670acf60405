/**
 * One request, from prompt to engine to probabilities to answer.
 *
 * The engine is an interface here, so all of this is tested without a model.
 *
 * @module
 */

import { optionCount, type RequestLimits, requireWithin } from '../api/counts.js'
import { objectFromEntries, stringifyJson } from '../api/json.js'
import type { Orders } from '../api/orders.js'
import { placeOf } from '../api/place.js'
import { atOnce, inTurns, type Steps } from '../api/turns.js'
import type { Engine, ScoreOutput, Suffix } from '../engine/types.js'
import { OiError } from '../errors.js'
import { loadDecoder, readImages } from '../images/read-images.js'
import type { ChosenReadout } from '../prompt/custom/types.js'
import { createReadout } from '../prompt/readout.js'
import type { Reader, Readout } from '../prompt/types.js'
import { answerOf, answerText } from '../scoring/answers.js'
import type { BoundCalibration } from '../scoring/calibration.js'
import { optionLogits, suffixesOf } from '../scoring/option-logits.js'
import type { Measurement, Temperature } from '../scoring/types.js'
import { calibrationsFor, requireOwn } from './bound-calibration.js'
import { createModelCard } from './model-card.js'
import type { ModelFacts } from './model-card.js'
import { namesOf, requireAllowed, unknownModel } from './model-names.js'
import { findRequestImages } from './request-images.js'
import { placeMarked, scoreWithImages } from './marked-images.js'
import { isLargeRequest, RequestRenderer } from './render-request.js'
import type {
  Answer,
  DecideOptions,
  Decided,
  DecideRequest,
  Decider,
  EngineReport,
  ModelCard,
  RequestImages,
  Usage,
} from './types.js'

export interface DeciderOptions extends ModelFacts {
  /** On top of the readout's own temperatures. */
  readonly calibration?: BoundCalibration | undefined
  /** The number of option orders of requests that do not set it; default: the readout's. */
  readonly orders?: Orders | undefined
  /** How the model is asked; undefined: as its metadata say. */
  readonly readout?: ChosenReadout | undefined
}

/** A decider on one open model. */
export interface ModelDecider extends Decider {
  readonly card: ModelCard
  /** For `readRequest`, so that every accepted request can be asked. */
  readonly limits: RequestLimits
  /** The readout's own temperatures, on top of which a calibration is applied. */
  readonly temperatures: readonly Temperature[]
  /** The number of option orders of requests that do not set it. */
  readonly orders: Orders
}

/**
 * Chooses how the model is asked, and answers requests with it.
 *
 * @param engine - Open; whoever opened it closes it.
 * @throws {@link OiError} `ERR_READOUT` if the model cannot be asked, `ERR_CALIBRATION` if the
 *   calibration is another model's; for a vision model, errors of loading the image decoder.
 */
export async function createDecider(
  engine: Engine,
  options: DeciderOptions,
): Promise<ModelDecider> {
  const readout = await createReadout(engine, { custom: options.readout })
  if (options.calibration) requireOwn(options.calibration, options.digest, readout)
  if (engine.info.vision && readout.textOnly !== true) await loadDecoder()
  return new EngineDecider(engine, readout, options)
}

class EngineDecider implements ModelDecider {
  readonly card: ModelCard
  readonly models: readonly ModelCard[]
  readonly limits: RequestLimits
  readonly temperatures: readonly Temperature[]
  readonly #engine: Engine
  readonly #renderer: RequestRenderer
  readonly #names: readonly string[]
  readonly #calibrationsOf: ReturnType<typeof calibrationsFor>
  readonly orders: Orders

  constructor(engine: Engine, readout: Readout, options: DeciderOptions) {
    this.#engine = engine
    this.#renderer = new RequestRenderer(readout)
    this.temperatures = readout.temperatures ?? []
    this.#calibrationsOf = calibrationsFor(this.temperatures, options.calibration)
    this.orders = options.orders ?? readout.orders ?? 1
    this.card = createModelCard(engine.info, readout, options)
    this.models = [this.card]
    const { limits } = this.card
    this.#names = namesOf(this.card)
    this.limits = {
      maxQuestions: limits.max_questions,
      maxOptions: limits.max_options,
      maxLevels: limits.max_levels,
    }
  }

  async decide(request: DecideRequest, options: DecideOptions = {}): Promise<Decided> {
    this.#requireModel(request.model)
    requireAllowed(this.card.name, options.models)
    requireWithin(request.questions, this.limits)
    const { parts } = options
    const found = findRequestImages(request, this.card)
    if (found.images.length === 0) return await this.#answer(request, options)

    const startMs = performance.now()
    const images = await readImages(found.images, options.signal, parts)
    try {
      const spentMs = performance.now() - startMs
      const { deadlineMs = Infinity } = options
      // At least 1: 0 could be read as no limit.
      const left = { ...options, deadlineMs: Math.max(1, deadlineMs - spentMs) }
      return await this.#answer(found.request, left, images, spentMs, request.questions)
    } finally {
      images.release()
    }
  }

  engines(): readonly EngineReport[] {
    const model = this.card.name
    const replicas = this.#engine.replicas?.()
    if (replicas === undefined) return [{ model, stats: this.#engine.stats() }]
    return replicas.map((stats, replica) => ({ model, replica, stats }))
  }

  /**
   * @param decodingMs - Time spent on images so far.
   * @param questions - The request's questions, without marks.
   */
  async #answer(
    request: DecideRequest,
    options: DecideOptions,
    images?: RequestImages,
    decodingMs = 0,
    questions = request.questions,
  ): Promise<Decided> {
    const { signal, workspace, scope, deadlineMs, requestId, orders = this.orders } = options
    const large = isLargeRequest(request)
    const rendered = large
      ? await inTurns(this.#renderer.render(request, images, orders))
      : this.#renderer.renderNow(request, images, orders)
    const { input, readers } = images ? placeMarked(rendered, images, questions) : rendered
    const engineOptions = { signal, workspace, scope, deadlineMs, requestId }
    let output: ScoreOutput
    try {
      output = images
        ? await scoreWithImages(this.#engine, input, engineOptions)
        : await this.#engine.score(input, engineOptions)
    } catch (error) {
      throw named(error, readers)
    }

    const steps = this.#answers(readers, input.suffixes, output, options.evidence ?? false)
    const { answers, answersText } = large ? await inTurns(steps) : atOnce(steps)
    const outputTokens = await this.#engine.countTokens(answersText)
    const modelMs = rounded(output.modelMs)
    return {
      answersText,
      model: this.card.name,
      answers,
      usage: {
        input_tokens: output.prefixTokens + output.suffixTokens,
        ...(images && { image_tokens: output.imageTokens }),
        output_tokens: Math.max(1, outputTokens),
      },
      latency_ms: modelMs,
      cached_tokens: output.cachedTokens,
      ...(options.evidence && {
        evidence: {
          cached_tokens: output.cachedTokens,
          evaluated_tokens: output.evaluatedTokens,
        },
      }),
      timings: {
        queue: rounded(output.queueMs),
        tokenize: rounded(output.tokenizeMs),
        vision: rounded(decodingMs + output.visionMs),
        model: modelMs,
      },
    }
  }

  /** The answers, and their JSON text. */
  *#answers(
    readers: readonly Reader[],
    suffixes: readonly Suffix[],
    { logits, ranks }: ScoreOutput,
    evidence: boolean,
  ): Steps<Pick<Decided, 'answers'> & { answersText: string }> {
    let at = 0
    let suffix = 0
    let asked = 0
    let text = ''
    const answers: [string, Answer][] = []
    for (const { name, question, reading } of readers) {
      const measured: Measurement[] = []
      for (let i = suffixesOf(reading); i > 0; i--) {
        const count = suffixes[suffix++]!.candidates.length
        const vocabulary = logits[at + count] ?? 0
        const own = logits.subarray(at, at + count)
        if (count === 0) {
          measured.push({ logits: own, vocabulary })
          continue
        }
        measured.push({ logits: own, vocabulary, rank: ranks[asked++]! })
        at += count + 1
      }
      const options = optionLogits(reading, measured)
      const { own, onTop } = this.#calibrationsOf(question.type, optionCount(question))
      const { temperature, bias } = own
      const answer = answerOf(question, options, { temperature, bias, onTop, evidence })
      answers.push([name, answer])
      const comma = text === '' ? '' : ','
      text += `${comma}${JSON.stringify(name)}:${answerText(answer)}`
      yield
    }
    return { answers: objectFromEntries(answers), answersText: `{${text}}` }
  }

  #requireModel(model: string | undefined): void {
    if (model === undefined || this.#names.includes(model)) return
    throw unknownModel(model, this.#names)
  }
}

/** The engine knows no bodies: adds the place of a text that is too long. */
function named(error: unknown, readers: readonly Reader[]): unknown {
  if (!(error instanceof OiError) || error.code !== 'ERR_STATE_TOO_LONG') return error
  const { code, message, suffix, spent } = error
  let place = 'state'
  if (suffix !== undefined) {
    let next = 0
    const long = readers.find(({ reading }) => (next += suffixesOf(reading)) > suffix)
    place = placeOf('questions', long!.name)
  }
  const details = { param: place, cause: error, ...(spent && { spent }) }
  return new OiError(code, `${place}: ${message}`, details)
}

/** Milliseconds to whole microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

/** By hand: `JSON.stringify` of it took a hundredth of a request's processor time. */
function usageText({ input_tokens, image_tokens, output_tokens }: Usage): string {
  const images = image_tokens === undefined ? '' : `"image_tokens":${image_tokens},`
  return `{"input_tokens":${input_tokens},${images}"output_tokens":${output_tokens}}`
}

/** The response body, in the order of the interface; names in the caller's order. */
export function serializeDecision(decision: Decided): string {
  const { model, answers, usage, latency_ms, evidence } = decision
  const text = decision.answersText ?? stringifyJson(answers)
  return (
    `{"model":${JSON.stringify(model)},"answers":${text},` +
    `"usage":${usageText(usage)},"latency_ms":${latency_ms}` +
    (evidence === undefined ? '}' : `,"evidence":${JSON.stringify(evidence)}}`)
  )
}
