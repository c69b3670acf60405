/**
 * The counters of an engine: the only list, in the order in which runners send them.
 *
 * The addon has the same names in the same order (native/engine/stats.h);
 * test/native/border.test.ts compares them.
 *
 * @module
 */

/**
 * Counters of an engine that has done nothing. The unit is tokens unless the name says otherwise.
 */
const none = {
  /** Requests accepted and not yet answered, tokenizing included. */
  queuedRequests: 0,
  /** Those of them that the present step, or the last one, works on. */
  runningRequests: 0,
  /** The tokens that those still need, and the time for them at the rate measured so far. */
  queuedTokens: 0,
  backlogMs: 0,
  /** Ended requests: answered, cancelled, out of time, refused as too many, failed. */
  answered: 0,
  cancelled: 0,
  expired: 0,
  refused: 0,
  failed: 0,
  /** Requests whose numbers were not finite, since the last one that was answered. */
  notFiniteInRow: 0,
  /** `llama_decode` calls, their capacity in tokens, and the time spent in them. */
  steps: 0,
  capacityTokens: 0,
  busyMs: 0,
  /**
   * All evaluated rows; of these, padding rows, and rows of requests that ended unanswered. The
   * useful-work ratio is 1 - (padding + lost) / evaluated.
   */
  evaluatedTokens: 0,
  paddingTokens: 0,
  lostTokens: 0,
  /** Evaluated tokens per second of `busyMs`, over the last few steps. */
  tokensPerSecond: 0,
  /** Prompt tokens of answered requests, and those of them found in a cache, by tier. */
  promptTokens: 0,
  deviceCachedTokens: 0,
  hostCachedTokens: 0,
  diskCachedTokens: 0,
  /** Requests by the tier that gave them the most tokens; `missed` ones found none. */
  deviceHits: 0,
  hostHits: 0,
  diskHits: 0,
  missed: 0,
  /**
   * The device tier: cells of the context, how many hold tokens, those of them that no request
   * needs now, and resident prefixes.
   */
  deviceCells: 0,
  deviceCellsUsed: 0,
  deviceCellsIdle: 0,
  devicePrefixes: 0,
  /** The host and disk tiers: bytes held, their limit, and prefixes. */
  hostBytes: 0,
  hostBytesLimit: 0,
  hostPrefixes: 0,
  diskBytes: 0,
  diskBytesLimit: 0,
  diskPrefixes: 0,
  /** Bytes of logits copied from a device to the host; 0 on the CPU. */
  readoutBytes: 0,
  /**
   * The part of `busyMs` until a step was built and submitted to a device, or the CPU began to
   * compute; on a GPU, of those steps that were not submitted ahead.
   */
  submitMs: 0,
  /** Steps that were submitted while a device still evaluated another. */
  stepsAhead: 0,
  /** Compute graphs reused without a rebuild. */
  graphsReused: 0,
  /**
   * Of steps on a GPU: pairs of a token and a cell that attention reads for it, and those of them
   * that the token sees, from the first of its request to itself.
   */
  readPairs: 0,
  seenPairs: 0,
}

/** The counters of an engine since it was opened, and its present state. */
export type EngineStats = Readonly<typeof none>

/** @returns The counters of an engine that has done nothing; also of one without a model. */
export const noStats = (): EngineStats => ({ ...none })

/** In the order in which they are sent. */
export const statNames = Object.keys(none) as (keyof EngineStats)[]
