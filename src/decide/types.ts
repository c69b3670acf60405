/**
 * The types of a request and its answer, for HTTP, the command line and embedding applications.
 *
 * @module
 */

import type { Json, JsonObject } from '../api/json.js'
import type { Orders } from '../api/orders.js'
import type { SpentMs } from '../errors.js'
import type { EngineStats, ImagePixels, ScoreOptions } from '../engine/types.js'

/** A validated request body. Objects keep the caller's key order (see api/json.ts). */
export interface DecideRequest {
  readonly state: Json
  readonly questions: Readonly<Record<string, Question>>
  readonly model?: string
  /**
   * Images before the state: data URLs, base64, or blocks. The state may hold images too, as
   * blocks: `{"type":"image","source":{…}}`. A model without vision refuses all images.
   */
  readonly images?: Json
  readonly image?: Json
  /** Images by the references that name them in the state and the questions. */
  readonly assets?: Json
}

/** The images of a request, decoded. */
export interface RequestImages {
  /** The images of `images`, in their order. */
  readonly before: readonly ImagePixels[]
  /** The images in the state, by the object that each of them replaces there. */
  readonly inState: ReadonlyMap<JsonObject, ImagePixels>
  /** The images in texts, by the marks that stand for them. */
  readonly inText?: ReadonlyMap<string, ImagePixels>
}

export type Question = NoulQuestion | ChoiceQuestion | ScoreQuestion

export interface NoulQuestion {
  readonly type: 'noul'
  readonly instructions?: Json
  readonly criteria?: { readonly true?: Json; readonly false?: Json } | null
}

export interface ChoiceQuestion {
  readonly type: 'choice'
  readonly instructions?: Json
  /**
   * Option name -> description; `null` and `""` mean that the name needs none. 1 to 255 options.
   */
  readonly criteria: Readonly<Record<string, Json>>
}

export interface ScoreQuestion {
  readonly type: 'score'
  readonly instructions?: Json
  /** Level descriptions, lowest first. 1 to 255 levels. */
  readonly criteria: readonly Exclude<Json, null>[]
}

/** Asked for with `x-oi-evidence: 1`. */
export interface Evidence {
  /** Probability of all allowed labels together over the whole vocabulary, 0 to 1. */
  readonly label_mass: number
  /**
   * Number of tokens in the whole vocabulary that were likelier than the likeliest label; 0: the
   * model would have said a label by itself. Absent if not requested.
   */
  readonly rank?: number
  /**
   * Per option, before the temperature; for a noul: no, then yes. A model that rates a noul has one
   * per rating, from no to yes. With averaged orders: the means of the log-probabilities.
   */
  readonly logits: readonly number[]
  /** The product of the model's own and a calibration's. */
  readonly temperature: number
  /** With averaged orders: the largest change of a probability by the order, 0 to 1. */
  readonly order_spread?: number
}

export interface NoulAnswer {
  readonly type: 'noul'
  /** Probability of yes. */
  readonly noul: number
  readonly evidence?: Evidence
}

export interface ChoiceAnswer {
  readonly type: 'choice'
  readonly choice: string
  /** Option name -> probability, in the caller's order, summing to 1. */
  readonly probabilities: Readonly<Record<string, number>>
  readonly confidence: number
  readonly evidence?: Evidence
}

export interface ScoreAnswer {
  readonly type: 'score'
  /** Expected level, counted from 0. */
  readonly score: number
  readonly probabilities: Readonly<Record<string, number>>
  /** Level index -> the level as sent; a number or a boolean as its JSON text. */
  readonly legend: Readonly<Record<string, string | Json[] | JsonObject>>
  readonly confidence: number
  readonly evidence?: Evidence
}

export type Answer = NoulAnswer | ChoiceAnswer | ScoreAnswer

export interface Usage {
  /** Tokens of state and questions, images included: what was sent, each part once. */
  readonly input_tokens: number
  /** Only if the request had images. */
  readonly image_tokens?: number
  readonly output_tokens: number
}

export type Timings = SpentMs

export interface Decision {
  readonly model: string
  /** One answer per question, in the order and under the names of the questions. */
  readonly answers: Readonly<Record<string, Answer>>
  readonly usage: Usage
  readonly latency_ms: number
  /** Input tokens that came from a cache. In the body only as part of `evidence`. */
  readonly cached_tokens: number
  /** Evidence of the request as a whole; only if requested. */
  readonly evidence?: { readonly cached_tokens: number; readonly evaluated_tokens: number }
  readonly timings: Timings
}

/** A decision on its way to a reply. */
export interface Decided extends Decision {
  /** The JSON of `answers`, if it has been written to count its tokens. */
  readonly answersText?: string
}

export interface DecideOptions extends ScoreOptions {
  readonly evidence?: boolean
  /**
   * The number of option orders in which each question is asked; the answer is their mean: as given
   * (1), forward and reversed (2), or every rotation (`all`). Default: the model's setting.
   */
  readonly orders?: Orders | undefined
  /** Files sent beside the request, which its assets name as their `part`. */
  readonly parts?: ReadonlyMap<string, Uint8Array> | undefined
  /** Own names of the models that may answer; default: all. */
  readonly models?: readonly string[] | undefined
}

/** A model as `GET /v1/models` describes it. */
export interface ModelCard {
  readonly name: string
  readonly description: string
  /** ISO date. */
  readonly release_date: string
  /** All further names that are answered. */
  readonly aliases: readonly string[]
  readonly default: boolean
  readonly modalities: readonly string[]
  readonly limits: {
    readonly max_options: number
    readonly max_levels: number
    readonly max_questions: number
    readonly max_options_per_request: number
    readonly max_state_tokens: number
    readonly max_images: number
    readonly max_image_pixels: number
    readonly max_batch: number
  }
  /** Whether the same request has the same bits every time, whatever else runs. */
  readonly same_bits: boolean
  /** `sha256:` and 64 hex digits of the weights file. */
  readonly digest: string
  /** How the model is asked, as `letters@1`. */
  readonly readout: string
  /** Only if a calibration is in use. */
  readonly calibration?: {
    /** Name of the labelled data. */
    readonly data: string
    /** ISO date on which the calibration was made. */
    readonly date: string
    /** Number of answers that the calibration was fitted to. */
    readonly observations: number
  }
}

/** Answers requests: the library's `open()` returns one, and the server is built on it. */
export interface Decider {
  readonly models: readonly ModelCard[]
  decide(request: DecideRequest, options?: DecideOptions): Promise<Decided>
  /** The state of each model's engine. Cheap. */
  engines(): readonly EngineReport[]
}

export interface EngineReport {
  /** The model's name. */
  readonly model: string
  /** The number of this engine among several of the model; undefined for the only one. */
  readonly replica?: number
  readonly stats: EngineStats
}

export type { Json, JsonObject, Orders }
