/**
 * Compressed request bodies.
 *
 * Rules
 *   1. The output is counted while it is made, and exceeds its bound by at most one piece: a body
 *      of a kilobyte can hold a gigabyte.
 *   2. Short bodies are inflated at once. For long ones only the joining of the pieces is on the
 *      event loop: node:zlib works in threads of its own, and zstd in turns (zstd.ts).
 *   3. A Brotli decoder allocates the window that the data ask for, up to 16 MiB, and fills it
 *      before it outputs anything. So the data are changed to ask for the smallest window that
 *      holds the permitted output.
 *   4. The data must be complete, and nothing may follow them.
 *
 * @module
 */

import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  gunzipSync,
  inflateRawSync,
  inflateSync,
  type ZlibOptions,
} from 'node:zlib'
import { shortened } from '../../api/place.js'
import { inTurns } from '../../api/turns.js'
import { OiError } from '../../errors.js'
import { DamagedData, inflateZstd } from './zstd.js'

/** The accepted codings. */
export const codings = ['gzip', 'deflate', 'br', 'zstd'] as const
export type Coding = (typeof codings)[number]

/** Compressed bytes that are inflated at once, and their maximum output: half a millisecond. */
const shortBytes = 16_384
const shortInflated = 262_144
/** The output of node:zlib in one piece. */
const pieceBytes = 65_536

/**
 * @param header - The value of `Content-Encoding`, not empty.
 * @returns Undefined for `identity`.
 * @throws {@link OiError} `ERR_ENCODING` for any other coding, and for more than one.
 */
export function codingOf(header: string): Coding | undefined {
  const name = header.trim().toLowerCase()
  if (name === 'identity') return undefined
  // An older name of the same coding (RFC 9110, 8.4.1.3).
  const coding = codings.find((known) => known === name || `x-${known}` === name)
  if (coding !== undefined && name !== 'x-zstd') return coding
  const got = JSON.stringify(shortened(header))
  throw new OiError(
    'ERR_ENCODING',
    `Content-Encoding: expected one of ${codings.join(', ')}, or none, got ${got}`,
    { accepts: codings.join(', ') },
  )
}

/**
 * Inflates a whole body.
 *
 * @param maxBytes - Of the output; `grow` throws beyond it.
 * @param grow - Called with the number of bytes so far; an error that it throws ends the work, and
 *   is thrown.
 * @returns A promise for long bodies. `bytes` are not read after this has returned.
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` if the data are damaged.
 */
export function inflate(
  bytes: Uint8Array,
  coding: Coding,
  maxBytes: number,
  grow: (length: number) => void,
): Uint8Array | Promise<Uint8Array> {
  if (coding !== 'zstd' && bytes.length <= shortBytes) {
    const inflated = inflateShort(bytes, coding)
    if (inflated !== undefined) {
      grow(inflated.length)
      return inflated
    }
  }
  const own = Buffer.from(bytes)
  if (coding === 'br') narrow(own, maxBytes)
  const pieces = coding === 'zstd' ? inTurns(inflateZstd(own, grow)) : stream(own, coding, grow)
  return pieces.then(
    (list) => Buffer.concat(list),
    (error: unknown) => Promise.reject(refusal(error, coding)),
  )
}

/** The two functions of node:zlib for each coding. */
const decoders = {
  gzip: { sync: gunzipSync, create: createGunzip },
  deflate: { sync: inflateSync, create: createInflate },
  raw: { sync: inflateRawSync, create: createInflateRaw },
  br: { sync: brotliDecompressSync, create: createBrotliDecompress },
}

/** Some clients send `deflate` without the frame that HTTP requires; its first two bytes tell. */
function decoderOf(coding: Exclude<Coding, 'zstd'>, bytes: Uint8Array) {
  if (coding !== 'deflate') return decoders[coding]
  const [first = 0, second = 0] = bytes
  const framed = (first & 15) === 8 && (first * 256 + second) % 31 === 0
  return framed || bytes.length < 2 ? decoders.deflate : decoders.raw
}

/**
 * Makes the window of Brotli data no larger than needed (RFC 7932, 9.1). The data mean the same in
 * any window that holds the output: no copy reaches back before its beginning.
 */
function narrow(bytes: Uint8Array, maxBytes: number): void {
  const [first = 0] = bytes
  const code = first & 15
  // Windows of 2^18 bytes and more share four bits, minus 16 bytes each.
  if ((code & 1) === 0 || code === 1) return
  const needed = Math.max(18, Math.ceil(Math.log2(maxBytes + 16)))
  bytes[0] = (first & 0xf0) | Math.min(code, ((needed - 17) << 1) | 1)
}

/** @returns Undefined if the output is too long to make at once. */
function inflateShort(bytes: Uint8Array, coding: Exclude<Coding, 'zstd'>): Buffer | undefined {
  const options = { maxOutputLength: shortInflated, info: true }
  const own = coding === 'br' ? Buffer.from(bytes) : bytes
  if (own !== bytes) narrow(own, shortInflated)
  try {
    // The types do not know `info`: it returns the engine beside the data.
    const { buffer, engine } = decoderOf(coding, own).sync(own, options) as unknown as {
      buffer: Buffer
      engine: { bytesWritten: number }
    }
    requireEnd(engine.bytesWritten, bytes)
    return buffer
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    throw refusal(error, coding)
  }
}

async function stream(
  bytes: Buffer,
  coding: Exclude<Coding, 'zstd'>,
  grow: (length: number) => void,
): Promise<Buffer[]> {
  const options: ZlibOptions = { chunkSize: pieceBytes }
  const decoder = decoderOf(coding, bytes).create(options)
  decoder.end(bytes)
  const pieces: Buffer[] = []
  let length = 0
  // An error thrown here destroys the decoder.
  for await (const piece of decoder as AsyncIterable<Buffer>) {
    length += piece.length
    grow(length)
    pieces.push(piece)
  }
  requireEnd(decoder.bytesWritten, bytes)
  return pieces
}

function requireEnd(readBytes: number, bytes: Uint8Array): void {
  if (readBytes !== bytes.length) throw new DamagedData('there are bytes after its end')
}

/** Errors of the decoders are the body's fault; errors of `grow` stay as they are. */
function refusal(error: unknown, coding: Coding): OiError {
  if (error instanceof OiError) return error
  const reason = error instanceof DamagedData ? `: ${error.message}` : ''
  const message = `body: expected whole and undamaged ${coding} data${reason}`
  return new OiError('ERR_REQUEST_UNACCEPTABLE', message, { cause: error })
}
