/**
 * Compressed bytes as clients send them, and what only looks like that.
 */
import {
  brotliCompressSync,
  brotliDecompressSync,
  deflateRawSync,
  deflateSync,
  gunzipSync,
  gzipSync,
} from 'node:zlib'
import { decompress } from 'fzstd'

/** What replies may be compressed by -> what they hold. */
export const replyDecoders: Readonly<Record<string, (bytes: Buffer) => Uint8Array>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
  zstd: (bytes) => decompress(bytes),
}

const frameHead = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
const mostBlockBytes = 131_072

/** Zstandard as it stands, in blocks that are not compressed: Node 20 has no compressor for it. */
export function zstdStored(bytes: Uint8Array): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(bytes.length)
  // One segment, four bytes of size.
  const parts: Uint8Array[] = [frameHead, Buffer.from([0xa0]), size]
  for (let at = 0, last = false; !last; at += mostBlockBytes) {
    const block = bytes.subarray(at, at + mostBlockBytes)
    last = at + block.length >= bytes.length
    parts.push(blockHead(block.length, 0, last), block)
  }
  return Buffer.concat(parts)
}

/** A few bytes that are so many megabytes of spaces; the frame does not say how many. */
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

/** Every way in which a body may be compressed. */
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

/** A request by zstd -19, in blocks that are compressed. */
export const zstdRequest = Buffer.from(
  'KLUv/WAyAJUEAKJKHhGQfdQedillYdFX3okQk7HTHHvvH8w6TS/aeo+nTBcsD/aPnGB8bm80xWtj1iv5c6mtsD14' +
    'dyN88Ulmi+BVib4WX2FstqY7H7yH6lp5np9XmnCFxTOKJkJHsDigCdHo6ZXqiVmnUXk6DVtHadHCjteCnbz4ZIut' +
    'rwMHADvL+IQMWVvvIDx3qWRaVj+BoMEM',
  'base64',
)
