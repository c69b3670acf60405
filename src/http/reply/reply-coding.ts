/**
 * The codings of replies, and the one that a request prefers (RFC 9110, 12.5.3).
 *
 * @module
 */

import zlib, { constants, type BrotliOptions, type ZlibOptions } from 'node:zlib'
import type { Transform } from 'node:stream'
import { type Weights, weightsOf } from './accepted.js'

/** One coding, at the lowest effort: more effort gains less than it costs. */
export interface ReplyCoding {
  readonly name: string
  compress(bytes: Uint8Array): Uint8Array
  /** In node:zlib's own threads. */
  compressLater(bytes: Uint8Array, done: (error: Error | null, bytes: Uint8Array) => void): void
  /** A stream that flushes everything after each write. */
  createStream(): Transform
}

const gzipOptions: ZlibOptions = { level: constants.Z_BEST_SPEED }
const gzip: ReplyCoding = {
  name: 'gzip',
  compress: (bytes) => zlib.gzipSync(bytes, gzipOptions),
  compressLater: (bytes, done) => zlib.gzip(bytes, gzipOptions, done),
  createStream: () => zlib.createGzip({ ...gzipOptions, flush: constants.Z_SYNC_FLUSH }),
}

const brotliOptions: BrotliOptions = {
  // A window of 256 KiB: repetitions in a reply are near, and a stream keeps its window in memory.
  params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_LGWIN]: 18 },
}
const brotli: ReplyCoding = {
  name: 'br',
  compress: (bytes) => zlib.brotliCompressSync(bytes, brotliOptions),
  compressLater: (bytes, done) => zlib.brotliCompress(bytes, brotliOptions, done),
  createStream: () => {
    return zlib.createBrotliCompress({ ...brotliOptions, flush: constants.BROTLI_OPERATION_FLUSH })
  },
}

/** The part of node:zlib from Node 22.15 on that the types do not know. */
interface Zstd {
  zstdCompressSync(bytes: Uint8Array, options: object): Buffer
  zstdCompress(
    bytes: Uint8Array,
    options: object,
    done: (error: Error | null, bytes: Buffer) => void,
  ): void
  createZstdCompress(options: object): Transform
  constants: { ZSTD_c_compressionLevel: number; ZSTD_e_flush: number }
}

function zstdOf(library: Zstd): ReplyCoding {
  const { ZSTD_c_compressionLevel: level, ZSTD_e_flush: flush } = library.constants
  const options = { params: { [level]: 1 } }
  return {
    name: 'zstd',
    compress: (bytes) => library.zstdCompressSync(bytes, options),
    compressLater: (bytes, done) => library.zstdCompress(bytes, options, done),
    createStream: () => library.createZstdCompress({ ...options, flush }),
  }
}

/** The codings that this Node supports; on a tie, the first is taken. */
export const replyCodings: readonly ReplyCoding[] = [
  ...('zstdCompressSync' in zlib ? [zstdOf(zlib as typeof zlib & Zstd)] : []),
  ...[brotli, gzip],
]

/**
 * @param accepts - The value of `Accept-Encoding`, `''` if there is none.
 * @returns Undefined: uncompressed.
 */
export function replyCodingOf(accepts: string): ReplyCoding | undefined {
  if (accepts === '') return undefined
  const weights = weightsOf(accepts)
  // Uncompressed is always possible, and preferred only if the request says so.
  let best: ReplyCoding | undefined
  let bestWeight = weights.get('identity') ?? 0
  for (const coding of replyCodings) {
    const weight = weightOf(weights, coding.name)
    // On a tie the first; and any coding rather than none.
    if (weight <= 0 || (best === undefined ? weight < bestWeight : weight <= bestWeight)) continue
    best = coding
    bestWeight = weight
  }
  return best
}

/** Whether a request refuses an uncompressed reply. */
export function refusesPlain(accepts: string): boolean {
  // Few headers have this, so it is checked first.
  if (!/q=0/i.test(accepts)) return false
  const weights = weightsOf(accepts)
  return (weights.get('identity') ?? weights.get('*')) === 0
}

/** The weight of a coding; without an entry for it or for all, 0. */
function weightOf(weights: Weights, name: string): number {
  // An older name of the same coding (RFC 9110, 8.4.1.3).
  const older = name === 'gzip' ? weights.get('x-gzip') : undefined
  return weights.get(name) ?? older ?? weights.get('*') ?? 0
}
