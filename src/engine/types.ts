/**
 * The engine as the rest of the project sees it: parts of text in, logits out.
 *
 * Types only, so that everything above it can be tested with another implementation.
 *
 * @module
 */

/** A run of prompt text. Parts are tokenized one by one and joined in order. */
export interface PromptPart {
  readonly text: string
  /**
   * True for text of a template, in which control tokens are recognised. False for
   * everything that a caller sent: nothing in it ever becomes a control token.
   */
  readonly trusted: boolean
}

/** One question behind the shared prefix. */
export interface Suffix {
  readonly parts: readonly PromptPart[]
  /**
   * Token ids whose logits are wanted at the suffix' last position. Empty: the tokens are
   * counted and nothing is evaluated.
   */
  readonly candidates: Int32Array
}

export interface ScoreInput {
  /** Evaluated once, shared by all suffixes. */
  readonly prefix: readonly PromptPart[]
  readonly suffixes: readonly Suffix[]
}

export interface ScoreOutput {
  /**
   * For each suffix with k > 0 candidates, in order: k raw logits in the candidates' order,
   * then one log-sum-exp (nats) of the logits of the whole vocabulary. So a candidate's
   * log-probability is its logit minus that last value.
   */
  readonly logits: Float32Array
  /** Tokens of the prefix. */
  readonly prefixTokens: number
  /** Tokens of all suffixes together, counted ones included. */
  readonly suffixTokens: number
  /** Prefix tokens that were taken from the cache instead of being evaluated. */
  readonly cachedTokens: number
  /** Milliseconds. `queueMs` is all waiting, `modelMs` the time on the inference thread. */
  readonly queueMs: number
  readonly tokenizeMs: number
  readonly modelMs: number
}

/** What is known about a model once it is open. */
export interface ModelInfo {
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
  /** Forks evaluated at once at most; more questions run in waves. */
  readonly maxForks: number
  readonly recurrent: boolean
  readonly hybrid: boolean
  /** Every scalar of the GGUF's metadata, as llama.cpp prints it. */
  readonly metadata: Readonly<Record<string, string>>
  /** The Jinja chat template, or undefined. */
  readonly chatTemplate: string | undefined
  readonly bosToken: string
  readonly eosToken: string
  /** Bytes of the context's K/V (and recurrent) memory, estimated before it was made. */
  readonly contextBytes: number
  readonly threads: number
  /** Where the model runs, as `CPU` or `CUDA0 (28 of 28 layers)`. */
  readonly device: string
}

/** What is needed of an AbortSignal; every AbortSignal is one. */
export interface Cancellation {
  readonly aborted: boolean
  readonly reason?: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export interface ScoreOptions {
  /** Aborting drops the job at the next step at the latest; score() rejects with its reason's meaning. */
  readonly signal?: Cancellation | undefined
}

/** A loaded model. */
export interface Engine {
  readonly info: ModelInfo
  /**
   * Evaluates the prefix once and every suffix behind it.
   *
   * @throws {@link OiError} `ERR_STATE_TOO_LONG` (prefix and longest suffix exceed the context;
   *   `message` carries count and limit), `ERR_OVERLOADED` (queue full), `ERR_ABORTED`,
   *   `ERR_ENGINE_CLOSED`, `ERR_ENGINE_INTERNAL`.
   */
  score(input: ScoreInput, options?: ScoreOptions): Promise<ScoreOutput>
  /** Token ids of each text: one array per text, in order. Trusted texts see control tokens. */
  tokenize(texts: readonly PromptPart[]): Promise<Int32Array[]>
  /** Number of tokens of plain text. */
  countTokens(text: string): Promise<number>
  /** For each id, true if the token is ordinary text: not control, unknown, unused or a raw byte. */
  areOrdinary(ids: Int32Array): boolean[]
  /** Waits for accepted work, then frees everything. Idempotent. */
  close(): Promise<void>
}
