/**
 * The counters of an engine: the one list of them, in the order in which runners send them.
 *
 * The addon counts the same, under these names and in this order (native/engine/stats.h), which
 * test/native/border.test.ts holds.
 *
 * @module
 */

/** Counters of an engine that has done nothing. Tokens unless named otherwise. */
const none = {
  /** Requests accepted and not yet answered, tokenizing included. */
  queuedRequests: 0,
  /** What those still need, and how long that will take by the rate measured so far. */
  queuedTokens: 0,
  backlogMs: 0,
  /** Requests that ended: answered, cancelled, out of time, refused as too many, failed. */
  answered: 0,
  cancelled: 0,
  expired: 0,
  refused: 0,
  failed: 0,
  /** `llama_decode` calls, what they could have held, and the time spent in them. */
  steps: 0,
  capacityTokens: 0,
  busyMs: 0,
  /**
   * Evaluated in all, and of these: rows that only fill a batch up, and rows whose request
   * did not live to see its answer. The useful-work ratio is 1 - (padding + lost) / evaluated.
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
  /** The device tier: cells of the context, how many hold tokens, and resident prefixes. */
  deviceCells: 0,
  deviceCellsUsed: 0,
  devicePrefixes: 0,
  /** The host and disk tiers: bytes held, their limit, and prefixes. */
  hostBytes: 0,
  hostBytesLimit: 0,
  hostPrefixes: 0,
  diskBytes: 0,
  diskBytesLimit: 0,
  diskPrefixes: 0,
  /**
   * Bytes of logits, or of what a device made of them, that came from it to the host; 0 on the CPU.
   */
  readoutBytes: 0,
  /**
   * Of `busyMs`, on a device: until all of a step was built and handed over. On the CPU, all.
   */
  submitMs: 0,
  /** Compute graphs used again without being rebuilt. */
  graphsReused: 0,
}

/** What an engine has done since it was opened, and how it stands. */
export type EngineStats = Readonly<typeof none>

/** @returns The counters of an engine that has done nothing; also of one without a model. */
export const noStats = (): EngineStats => ({ ...none })

/** In the order in which they are sent. */
export const statNames = Object.keys(none) as (keyof EngineStats)[]
