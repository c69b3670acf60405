/**
 * One request, whole: prompt, engine, probabilities, answer.
 *
 * The engine is an interface here, so that all of this is tested without a model.
 *
 * @module
 */

import { keysOf, objectFromEntries, stringifyJson } from '../api/json.js'
import type { Json } from '../api/json.js'
import { shortened } from '../api/place.js'
import type { RequestLimits } from '../api/read-request.js'
import type { Engine, ScoreOutput } from '../engine/types.js'
import { OiError } from '../errors.js'
import { findImage } from '../images/find-image.js'
import { createReadout } from '../prompt/readout.js'
import type { Reader, Readout } from '../prompt/readout.js'
import { answerOf } from '../scoring/answers.js'
import { createModelCard } from './model-card.js'
import type { ModelFacts } from './model-card.js'
import type {
  Answer,
  DecideOptions,
  DecideRequest,
  Decider,
  Decision,
  ModelCard,
  Question,
} from './types.js'

/** The answers' JSON, which counting its tokens needs before the response body does. */
const serialized = Symbol('serialized answers')

interface Serialized {
  readonly [serialized]?: string
}

/** Names under which the default model answers besides its own. */
const defaultNames = ['default', 'latest', 'jev-latest', 'jev-preview']

export interface DeciderOptions extends ModelFacts {
  /** Calibration temperature of a question, > 0; 1 by default. */
  readonly temperatureOf?: (question: Question) => number
}

/** A decider on one open model. */
export interface ModelDecider extends Decider {
  readonly card: ModelCard
  /** For `readRequest`, so that what it accepts can be asked. */
  readonly limits: RequestLimits
}

/**
 * Finds out how the model can be asked, and answers requests with it.
 *
 * @param engine - Open, and closed by whoever opened it.
 * @throws {@link OiError} `ERR_READOUT` if the model cannot be asked.
 */
export async function createDecider(
  engine: Engine,
  options: DeciderOptions,
): Promise<ModelDecider> {
  const readout = await createReadout(engine)
  return new EngineDecider(engine, readout, options)
}

class EngineDecider implements ModelDecider {
  readonly card: ModelCard
  readonly models: readonly ModelCard[]
  readonly limits: RequestLimits
  readonly #engine: Engine
  readonly #readout: Readout
  readonly #names: readonly string[]
  readonly #temperatureOf: (question: Question) => number

  constructor(engine: Engine, readout: Readout, options: DeciderOptions) {
    this.#engine = engine
    this.#readout = readout
    this.#temperatureOf = options.temperatureOf ?? (() => 1)
    this.card = createModelCard(engine.info, readout, options)
    this.models = [this.card]
    const { name, aliases, limits } = this.card
    this.#names = [name, ...aliases, ...(this.card.default ? defaultNames : [])]
    this.limits = {
      maxQuestions: limits.max_questions,
      maxOptions: limits.max_options,
      maxLevels: limits.max_levels,
    }
  }

  async decide(request: DecideRequest, options: DecideOptions = {}): Promise<Decision> {
    this.#requireModel(request.model)
    this.#requireFewQuestions(request)
    if (!this.card.modalities.includes('image')) this.#requireNoImage(request)
    const { input, readers } = this.#readout.render(request)
    const output = await this.#engine.score(input, { signal: options.signal }).catch(nameState)

    const answers = this.#answers(readers, output, options.evidence ?? false)
    const answersText = stringifyJson(answers as unknown as Json)
    const outputTokens = await this.#engine.countTokens(answersText)
    const modelMs = rounded(output.modelMs)
    const decision: Decision & Serialized = {
      [serialized]: answersText,
      model: this.card.name,
      answers,
      usage: {
        input_tokens: output.prefixTokens + output.suffixTokens,
        output_tokens: Math.max(1, outputTokens),
        cached_tokens: output.cachedTokens,
      },
      latency_ms: modelMs,
      timings: {
        queue: rounded(output.queueMs),
        tokenize: rounded(output.tokenizeMs),
        vision: 0,
        model: modelMs,
      },
    }
    return decision
  }

  #answers(
    readers: readonly Reader[],
    { logits }: ScoreOutput,
    evidence: boolean,
  ): Record<string, Answer> {
    let at = 0
    return objectFromEntries(
      readers.map(({ name, question, forms }) => {
        const count = forms.reduce((sum, form) => sum + form, 0)
        const measured = {
          logits: logits.subarray(at, at + count),
          forms,
          vocabulary: logits[at + count] ?? 0,
        }
        if (count > 0) at += count + 1
        const temperature = this.#temperatureOf(question)
        return [name, answerOf(question, measured, { temperature, evidence })]
      }),
    )
  }

  #requireModel(model: string | undefined): void {
    if (model === undefined || this.#names.includes(model)) return
    const got = JSON.stringify(shortened(model))
    throw new OiError(
      'ERR_REQUEST_UNACCEPTABLE',
      `model: expected one of ${this.#names.join(', ')}, got ${got}`,
      { param: 'model' },
    )
  }

  #requireNoImage(request: DecideRequest): void {
    const place = findImage(request)
    if (place === undefined) return
    throw new OiError(
      'ERR_REQUEST_UNACCEPTABLE',
      `${place}: expected no image, the model ${this.card.name} reads text only`,
      { param: place },
    )
  }

  #requireFewQuestions({ questions }: DecideRequest): void {
    const count = keysOf(questions).length
    if (count <= this.limits.maxQuestions) return
    throw new OiError(
      'ERR_REQUEST_UNACCEPTABLE',
      `questions: expected 1 to ${this.limits.maxQuestions} questions, got ${count}`,
      { param: 'questions' },
    )
  }
}

/** The engine knows no bodies: says where what was too long stands. */
function nameState(error: unknown): never {
  if (error instanceof OiError && error.code === 'ERR_STATE_TOO_LONG') {
    throw new OiError(error.code, `state: ${error.message}`, { param: 'state', cause: error })
  }
  throw error
}

/** Milliseconds to whole microseconds. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000
}

/** The response body, in the order of the interface; names in the caller's order. */
export function serializeDecision(decision: Decision): string {
  const { model, answers, usage, latency_ms } = decision
  const text = (decision as Serialized)[serialized] ?? stringifyJson(answers as unknown as Json)
  return (
    `{"model":${JSON.stringify(model)},"answers":${text},` +
    `"usage":${JSON.stringify(usage)},"latency_ms":${latency_ms}}`
  )
}
