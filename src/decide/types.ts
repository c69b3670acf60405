/**
 * One request, whole, as HTTP, the command line and embedding applications see it.
 *
 * @module
 */

import type { Json, JsonObject } from '../api/json.js'
import type { Orders } from '../api/orders.js'
import type { Cancellation, EngineStats, ImagePixels } from '../engine/types.js'

/** A validated request body. Objects keep the caller's key order (see api/json.ts). */
export interface DecideRequest {
  readonly state: Json
  readonly questions: Readonly<Record<string, Question>>
  readonly model?: string
  /**
   * Pictures before the state: data URLs, base64, or blocks. They may stand in the state too, as
   * blocks: `{"type":"image","source":{…}}`. A model without vision refuses any.
   */
  readonly images?: Json
  readonly image?: Json
  /** Pictures by the references with which the state and the questions name them. */
  readonly assets?: Json
}

/** The images of a request, decoded. */
export interface RequestImages {
  /** Those of `images`, in their order. */
  readonly before: readonly ImagePixels[]
  /** Those in the state, by the object that each of them replaces there. */
  readonly inState: ReadonlyMap<JsonObject, ImagePixels>
  /** Those in texts, by the marks that stand for them. */
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
  /** Option name -> description; `null` and `""` mean "by its name alone". 1 to 255 options. */
  readonly criteria: Readonly<Record<string, Json>>
}

export interface ScoreQuestion {
  readonly type: 'score'
  readonly instructions?: Json
  /** Level descriptions, lowest first. 1 to 255 levels. */
  readonly criteria: readonly Json[]
}

/** Asked for with `x-oi-evidence: 1`. */
export interface Evidence {
  /** Probability of all allowed labels together over the whole vocabulary, 0 to 1. */
  readonly label_mass: number
  /**
   * How many tokens of the whole vocabulary were likelier than the likeliest label; 0: the model
   * would have said a label by itself. Absent where it was not asked.
   */
  readonly rank?: number
  /**
   * Per option, before the temperature; for a noul: no, then yes. A model that rates a noul has
   * one for each rating, from no to yes. With averaged orders: the means of the log-probabilities.
   */
  readonly logits: readonly number[]
  readonly temperature: number
  /** With averaged orders: the largest difference that the order makes to a probability, 0 to 1. */
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
  /** Level index -> the level's own JSON. */
  readonly legend: Readonly<Record<string, Json>>
  readonly confidence: number
  readonly evidence?: Evidence
}

export type Answer = NoulAnswer | ChoiceAnswer | ScoreAnswer

export interface Usage {
  /** Of state and questions, those of images included. */
  readonly input_tokens: number
  /** Only there if the request had images. */
  readonly image_tokens?: number
  readonly output_tokens: number
}

/** Milliseconds. */
export interface Timings {
  readonly queue: number
  readonly tokenize: number
  /** Decoding images, waiting for that, and encoding them. No part of `model`. */
  readonly vision: number
  readonly model: number
}

export interface Decision {
  readonly model: string
  /** One answer per question, in the order and under the names of the questions. */
  readonly answers: Readonly<Record<string, Answer>>
  readonly usage: Usage
  readonly latency_ms: number
  /** Those of the input tokens that came from a cache. Part of the body only as `evidence`. */
  readonly cached_tokens: number
  /** Where evidence was asked for: that of the request as a whole. */
  readonly evidence?: { readonly cached_tokens: number }
  readonly timings: Timings
}

/** A decision on its way to a reply. */
export interface Decided extends Decision {
  /** `answers` as JSON, if they have been written already: to count their tokens. */
  readonly answersText?: string
}

export interface DecideOptions {
  readonly signal?: Cancellation | undefined
  readonly evidence?: boolean
  /**
   * In how many orders of its options each question is asked, of which the answer is the mean: as
   * given (1), forward and reversed (2), or every rotation (`all`). The model's setting by default.
   */
  readonly orders?: Orders | undefined
  /** Files that came beside the request, which its assets name as their `part`. */
  readonly parts?: ReadonlyMap<string, Uint8Array> | undefined
  /** Whose request it is, 0 to 2^32 - 1: workspaces that wait share the model equally. 0 by default. */
  readonly workspace?: number | undefined
  /** Time for the model's part, milliseconds; beyond it, `ERR_TIMEOUT`. No limit by default. */
  readonly deadlineMs?: number | undefined
  /** Own names of the models that may answer; all by default. */
  readonly models?: readonly string[] | undefined
  /** Its id in logs and crash reports. */
  readonly requestId?: string | undefined
}

/** A model as `GET /v1/models` describes it. */
export interface ModelCard {
  readonly name: string
  readonly description: string
  /** ISO date. */
  readonly release_date: string
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
  /** `sha256:` and 64 hex digits of the weights file. */
  readonly digest: string
  /** How the model is asked, as `letters@1`. */
  readonly readout: string
  /** Only there if a calibration file is in use. */
  readonly calibration?: {
    /** Name of the labelled data. */
    readonly data: string
    /** ISO date on which it was made. */
    readonly date: string
    /** Answers that it was fitted to. */
    readonly observations: number
  }
}

/** What answers requests: the library's `open()` gives one, the server is built on it. */
export interface Decider {
  readonly models: readonly ModelCard[]
  decide(request: DecideRequest, options?: DecideOptions): Promise<Decided>
  /** How the engine of each model stands. Cheap. */
  engines(): readonly EngineReport[]
}

export interface EngineReport {
  /** The model's name. */
  readonly model: string
  /** Which of several engines with the model; undefined for the only one. */
  readonly replica?: number
  readonly stats: EngineStats
}

export type { Json, JsonObject, Orders }
