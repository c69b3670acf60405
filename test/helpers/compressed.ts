/**
 * Compressed bytes as clients send them, and bytes that only look compressed.
 */
import {
  type BrotliCompress,
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  createBrotliCompress,
  createDeflateRaw,
  type DeflateRaw,
  deflateRawSync,
  deflateSync,
  gunzipSync,
  gzipSync,
} from 'node:zlib'
import { decompress } from 'fzstd'

/** Content coding of replies -> the decoder. */
export const replyDecoders: Readonly<Record<string, (bytes: Buffer) => Uint8Array>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: (bytes) => decompress(bytes),
}

const frameHead = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
const mostBlockBytes = 131_072

/** Zstandard with uncompressed blocks: Node 20 has no compressor for it. */
export function zstdStored(bytes: Uint8Array): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(bytes.length)
  // One segment, four bytes for the size.
  const parts: Uint8Array[] = [frameHead, Buffer.from([0xa0]), size]
  for (let at = 0, last = false; !last; at += mostBlockBytes) {
    const block = bytes.subarray(at, at + mostBlockBytes)
    last = at + block.length >= bytes.length
    parts.push(blockHead(block.length, 0, last), block)
  }
  return Buffer.concat(parts)
}

/** A few bytes that decode to this many megabytes of spaces; the frame does not say how many. */
export function zstdBomb(megabytes: number): Buffer {
  const blocks = Array.from({ length: megabytes * 8 }, (_, i) =>
    Buffer.concat([blockHead(mostBlockBytes, 1, i === megabytes * 8 - 1), Buffer.from(' ')]),
  )
  // A window of 128 KiB.
  return Buffer.concat([frameHead, Buffer.from([0x00, 0x38]), ...blocks])
}

function blockHead(size: number, type: number, last: boolean): Buffer {
  const head = Buffer.alloc(3)
  head.writeUIntLE((size << 3) | (type << 1) | (last ? 1 : 0), 0, 3)
  return head
}

/** The window that a Brotli decoder must provide. */
export const largestWindow = {
  params: { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS },
}

/** Every content coding of a request body. */
export const compressors: Readonly<Record<string, readonly [string, (b: Uint8Array) => Buffer]>> = {
  gzip: ['gzip', (bytes) => gzipSync(bytes)],
  'gzip, by its older name': ['x-gzip', (bytes) => gzipSync(bytes)],
  'gzip in several members': [
    'gzip',
    (bytes) => Buffer.concat([gzipSync(bytes.subarray(0, 9)), gzipSync(bytes.subarray(9))]),
  ],
  deflate: ['deflate', (bytes) => deflateSync(bytes)],
  'deflate without its frame': ['Deflate', (bytes) => deflateRawSync(bytes)],
  br: ['br', (bytes) => brotliCompressSync(bytes)],
  'br with the largest window': ['br', (bytes) => brotliCompressSync(bytes, largestWindow)],
  zstd: ['zstd', zstdStored],
  'zstd in several frames, one of them to be skipped': [
    'zstd',
    (bytes) => {
      const skipped = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7])
      return Buffer.concat([
        ...[zstdStored(bytes.subarray(0, 9)), skipped, zstdStored(bytes.subarray(9))],
      ])
    },
  ],
}

/** A request compressed by zstd -19. */
export const zstdRequest = Buffer.from(
  'KLUv/WAyAJUEAKJKHhGQfdQedillYdFX3okQk7HTHHvvH8w6TS/aeo+nTBcsD/aPnGB8bm80xWtj1iv5c6mtsD14' +
    'dyN88Ulmi+BVib4WX2FstqY7H7yH6lp5np9XmnCFxTOKJkJHsDigCdHo6ZXqiVmnUXk6DVtHadHCjteCnbz4ZIut' +
    'rwMHADvL+IQMWVvvIDx3qWRaVj+BoMEM',
  'base64',
)

/**
 * This many MiB of zeros in few bytes. A fully flushed part may be repeated, so a gigabyte is as
 * cheap to make as a megabyte. The checksum at the end is wrong; no server may read that far.
 */
export async function bombs(mebibytes: number): Promise<Readonly<Record<string, Buffer>>> {
  const fast = { params: { ...largestWindow.params, [constants.BROTLI_PARAM_QUALITY]: 1 } }
  const deflate = await flushed(createDeflateRaw({ level: 9 }), constants.Z_FULL_FLUSH)
  const br = await flushed(createBrotliCompress(fast), constants.BROTLI_OPERATION_FLUSH)
  const often = ([first, next]: readonly [Buffer, Buffer]) =>
    Buffer.concat([first, ...Array<Buffer>(mebibytes - 1).fill(next)])
  const end = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  return {
    gzip: Buffer.concat([Buffer.from('1f8b0800000000000003', 'hex'), often(deflate), end]),
    deflate: Buffer.concat([Buffer.from('789c', 'hex'), often(deflate), end.subarray(4)]),
    br: Buffer.concat([often(br), Buffer.from([3])]),
    zstd: zstdBomb(mebibytes),
  }
}

/** A compressed MiB of zeros at the beginning, and one that follows it. */
async function flushed(
  compressor: BrotliCompress | DeflateRaw,
  flush: number,
): Promise<readonly [Buffer, Buffer]> {
  const taken: Buffer[] = []
  compressor.on('data', (bytes: Buffer) => taken.push(bytes))
  const once = async () => {
    taken.length = 0
    compressor.write(Buffer.alloc(2 ** 20))
    await new Promise<void>((resolve) => compressor.flush(flush, resolve))
    return Buffer.concat(taken)
  }
  const both = [await once(), await once()] as const
  compressor.destroy()
  return both
}
