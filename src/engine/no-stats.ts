/**
 * The counters of an engine that has done nothing, for engines without a model.
 *
 * @module
 */

import type { EngineStats } from './types.js'

export function noStats(): EngineStats {
  return {
    queuedRequests: 0,
    queuedTokens: 0,
    backlogMs: 0,
    answered: 0,
    cancelled: 0,
    expired: 0,
    refused: 0,
    failed: 0,
    steps: 0,
    capacityTokens: 0,
    busyMs: 0,
    evaluatedTokens: 0,
    paddingTokens: 0,
    lostTokens: 0,
    tokensPerSecond: 0,
    promptTokens: 0,
    deviceCachedTokens: 0,
    hostCachedTokens: 0,
    diskCachedTokens: 0,
    deviceHits: 0,
    hostHits: 0,
    diskHits: 0,
    missed: 0,
    deviceCells: 0,
    deviceCellsUsed: 0,
    devicePrefixes: 0,
    hostBytes: 0,
    hostBytesLimit: 0,
    hostPrefixes: 0,
    diskBytes: 0,
    diskBytesLimit: 0,
    diskPrefixes: 0,
    readoutBytes: 0,
    submitMs: 0,
    graphsReused: 0,
  }
}
