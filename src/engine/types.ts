/**
 * The engine's interface: parts of text in, logits out.
 *
 * Types only, so that all users can be tested with another implementation.
 *
 * @module
 */

import type { EngineStats } from './stats.js'

export type { EngineStats }

/** A decoded image as the model's projector takes it. */
export interface ImagePixels {
  /** RGB, 8 bits each, row by row from the top: `3 · width · height` bytes. */
  readonly rgb: Uint8Array
  /** Pixels. */
  readonly width: number
  readonly height: number
}

/** A run of prompt text. Parts are tokenized one by one and joined in order. */
export interface PromptPart {
  readonly text: string
  /**
   * True for text of a template, in which control tokens are recognised. False for everything that
   * a caller sent: none of it ever becomes a control token.
   */
  readonly trusted: boolean
  /** An image at this place, in a prefix only; the text is empty then. Needs `info.vision`. */
  readonly image?: ImagePixels
}

/** One question behind the shared prefix. */
export interface Suffix {
  readonly parts: readonly PromptPart[]
  /** Token ids whose logits are wanted at the suffix's last position. Empty: nothing is evaluated. */
  readonly candidates: Int32Array
  /**
   * The parts that are counted in place of `parts`, if a readout repeats there what was sent once:
   * none, if all of it is counted with another suffix. Default: `parts`.
   */
  readonly counts?: readonly PromptPart[]
}

export interface ScoreInput {
  /** Evaluated once, shared by all suffixes. */
  readonly prefix: readonly PromptPart[]
  readonly suffixes: readonly Suffix[]
}

/** Milliseconds. `queueMs` is all waiting, `modelMs` the time on the inference thread. */
export interface EngineTimes {
  readonly queueMs: number
  readonly tokenizeMs: number
  /** Time to encode the images that were not cached. */
  readonly visionMs: number
  readonly modelMs: number
}

export interface ScoreOutput extends EngineTimes {
  /**
   * For each suffix with k > 0 candidates, in order: k raw logits in the candidates' order,
   * then one log-sum-exp (nats) of the logits of the whole vocabulary. So a candidate's
   * log-probability is its logit minus that last value.
   */
  readonly logits: Float32Array
  /**
   * For each of those suffixes, how many tokens of the vocabulary were likelier than its likeliest
   * candidate.
   */
  readonly ranks: Int32Array
  /** Tokens of the prefix, those of its images included. */
  readonly prefixTokens: number
  /** Positions that the images take up in the prefix. */
  readonly imageTokens: number
  /** Tokens of what the suffixes count. */
  readonly suffixTokens: number
  /** Prefix tokens found in the cache and not evaluated. */
  readonly cachedTokens: number
  /** Tokens evaluated for the answer, as often as the model read them. */
  readonly evaluatedTokens: number
}

/** The part of a model in the memory of one device. Bytes. */
export interface Placement {
  /** llama.cpp's name: `CPU`, `CUDA0`. */
  readonly device: string
  /** As `NVIDIA H100 80GB HBM3`; '' for the CPU. */
  readonly description: string
  /** Layers of the model; the output head counts as one. */
  readonly layers: number
  readonly weightBytes: number
  /** KV cells and recurrent states. */
  readonly cellBytes: number
  /** Compute, input and output buffers. */
  readonly bufferBytes: number
  /** Free on the device before the model was loaded; 0 if unknown. */
  readonly freeBytes: number
}

/** Facts about an open model. */
export interface ModelInfo {
  /** Whether images can be parts of a prefix: the model was opened with a projector. */
  readonly vision: boolean
  /** `general.architecture` of the GGUF. */
  readonly architecture: string
  /** llama.cpp's description, as `qwen3 0.6B Q8_0`. */
  readonly description: string
  readonly parameters: number
  readonly weightBytes: number
  readonly vocabularySize: number
  /** Context length the model was trained with, tokens. */
  readonly trainedContextTokens: number
  /** Cells of this engine's context: prefix and suffixes of a request must fit together. */
  readonly contextTokens: number
  /** Most tokens of a state with its longest question; encoders may have more cells than that. */
  readonly maxStateTokens: number
  /** Most forks evaluated at once; more questions run in waves. */
  readonly maxForks: number
  readonly recurrent: boolean
  readonly hybrid: boolean
  /**
   * Every scalar of the GGUF's metadata, as llama.cpp prints it; and the keys `oi.…` of a readout of
   * hidden states that the file lacks, from what else it says.
   */
  readonly metadata: Readonly<Record<string, string>>
  /** The Jinja chat template, or undefined. */
  readonly chatTemplate: string | undefined
  /** Further templates by their names, as `systemone` of a decision model. */
  readonly chatTemplates: Readonly<Record<string, string>>
  readonly bosToken: string
  readonly eosToken: string
  /** Bytes of the context's KV cells and recurrent states, estimated before they were allocated. */
  readonly contextBytes: number
  readonly threads: number
  /**
   * Whether no bit of an answer depends on what else runs: with `deterministic`, and where our own
   * kernels compute everything.
   */
  readonly sameBits: boolean
  /** Most tokens of one step, which bounds how long a new request waits for the running step. */
  readonly stepTokens: number
  /** Bytes of RAM that the host tier of the state cache may take. */
  readonly hostCacheBytes: number
  /** Where the model runs, as `CPU` or `CUDA0 (NVIDIA H100 80GB HBM3)`. */
  readonly device: string
  /**
   * The memory by device: of an open model as llama.cpp allocated it; of a model opened for its
   * metadata, as it would. The CPU comes last.
   */
  readonly placement: readonly Placement[]
  /** Choices that differ from the options, and why, for people; often none. */
  readonly notes: readonly string[]
  /**
   * Instructions that our own CPU kernels use, as `AVX2, FMA and F16C`, and what of the weights has
   * no kernel, as `, 12 % of the weights (f32) without`; `, the same bits in any company` where no
   * bit of an answer depends on what else runs; '' if none are used.
   */
  readonly kernels: string
}

/** The part of an AbortSignal that the engine needs. */
export interface Cancellation {
  readonly aborted: boolean
  readonly reason?: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export interface ScoreOptions {
  /** Aborting drops the request at the next step at the latest; `score()` rejects. */
  readonly signal?: Cancellation | undefined
  /**
   * The workspace of the request. While several workspaces wait, each gets the same share of the
   * evaluated tokens. An integer from 0 to 2^32 - 1; 0 by default.
   */
  readonly workspace?: number | undefined
  /**
   * Who shares what is evaluated for the request: those with the same text, of at most 256
   * characters. Neither times nor counts tell other scopes what was asked. Default: its workspace.
   */
  readonly scope?: string | undefined
  /** Time for the model's part, milliseconds; beyond it, `ERR_TIMEOUT`. Default: no limit. */
  readonly deadlineMs?: number | undefined
  /** Its id in logs and crash reports. */
  readonly requestId?: string | undefined
}

/** A loaded model. */
export interface Engine {
  readonly info: ModelInfo
  /**
   * Evaluates the prefix once and every suffix behind it.
   *
   * @throws {@link OiError} `ERR_STATE_TOO_LONG` (prefix and longest suffix exceed the context;
   *   `message` carries count and limit), `ERR_OVERLOADED` (too many requests wait; `retryAfterMs`
   *   says when to retry), `ERR_TIMEOUT`, `ERR_ABORTED`, `ERR_ENGINE_CLOSED`,
   *   `ERR_ENGINE_INTERNAL`.
   */
  score(input: ScoreInput, options?: ScoreOptions): Promise<ScoreOutput>
  /** Token ids of each text: one array per text, in order. Trusted texts see control tokens. */
  tokenize(texts: readonly PromptPart[]): Promise<Int32Array[]>
  /** Number of tokens of plain text. */
  countTokens(text: string): Promise<number>
  /** Counters since the engine was opened. Cheap; never waits for the model. */
  stats(): EngineStats
  /** The counters of each replica, if there are several. */
  replicas?(): readonly EngineStats[]
  /** For each id, true if the token is ordinary text: not control, unknown, unused or a raw byte. */
  areOrdinary(ids: Int32Array): boolean[]
  /** Waits for accepted requests, then frees everything. Idempotent. */
  close(): Promise<void>
}
