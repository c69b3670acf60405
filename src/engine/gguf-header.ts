/**
 * Reads the header of a GGUF file without llama.cpp, which aborts at some false headers.
 *
 * Long arrays (a vocabulary) are skipped. Every length and offset is checked against the file's
 * size before it is used. Reading holds no event loop, as on a network mount that hangs, nor does
 * opening a pipe.
 *
 * @module
 */

import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

export interface GgufTensor {
  readonly name: string
  /** Dimensions in ggml's order: inputs first. */
  readonly dims: readonly number[]
  /** ggml's number of the type. */
  readonly type: number
  /** Bytes behind {@link GgufHeader.dataOffset}. */
  readonly offset: number
}

type GgufValue = number | bigint | boolean | string

export interface GgufHeader {
  /** Scalars, and the first {@link shortArray} numbers of arrays. */
  readonly values: ReadonlyMap<string, GgufValue | readonly GgufValue[]>
  readonly tensors: readonly GgufTensor[]
  /** Bytes from the file's beginning to its first tensor. */
  readonly dataOffset: number
}

/** How many values of an array are kept. */
const shortArray = 1024
const maxNameBytes = 65_535
const types = { uint8: 0, bool: 7, string: 8, array: 9 } as const
/** Bytes of a value, by its type; 0 for strings and arrays, whose size varies. */
const widths = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8]

/** Read at once; most headers without a vocabulary. Twice as much follows, as it is needed. */
const firstBytes = 1 << 20
/** A header is no longer: those of the largest vocabularies have a tenth of it. */
const mostBytes = 256 << 20

/**
 * @returns The header, or its fault, in words that follow the file's name.
 * @throws What opening and reading it throws.
 */
export async function readGgufHeader(path: string): Promise<GgufHeader | string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = await file.stat()
    if (!stats.isFile()) return noGguf
    const { size } = stats
    for (let wanted = firstBytes; ; wanted *= 2) {
      const bytes = Buffer.alloc(Math.min(wanted, size))
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
      try {
        return readHeader(new Reader(bytes.subarray(0, bytesRead), size))
      } catch (error) {
        if (error instanceof HeaderFault) return error.message
        if (!(error instanceof Unread)) throw error
        if (bytesRead < wanted || wanted >= mostBytes) return cutHeader
      }
    }
  } finally {
    await file.close()
  }
}

const noGguf = 'is not a GGUF file'
/** A fault: there are fewer bytes than its lengths need. */
export const cutHeader = 'ends inside its header, or its header is damaged'

/** Values and bytes of a block, by ggml's number of the type. */
const blocks: Readonly<Record<number, readonly [values: number, bytes: number]>> = {
  ...{ 0: [1, 4], 1: [1, 2], 2: [32, 18], 3: [32, 20], 6: [32, 22], 7: [32, 24], 8: [32, 34] },
  ...{ 9: [32, 36], 10: [256, 84], 11: [256, 110], 12: [256, 144], 13: [256, 176], 14: [256, 210] },
  ...{ 15: [256, 292], 16: [256, 66], 17: [256, 74], 18: [256, 98], 19: [256, 50], 20: [32, 18] },
  ...{ 21: [256, 110], 22: [256, 82], 23: [256, 136], 24: [1, 1], 25: [1, 2], 26: [1, 4] },
  ...{ 27: [1, 8], 28: [1, 8], 29: [256, 56], 30: [1, 2], 34: [256, 54], 35: [256, 66] },
  ...{ 39: [32, 17], 40: [64, 36], 41: [128, 18], 42: [64, 18] },
}

/** The least length of a whole file with this header, bytes. */
export function wholeBytes({ tensors, dataOffset }: GgufHeader): number {
  const ends = tensors.map(({ type, dims, offset }) => {
    // Of an unknown type, the beginning alone is known.
    const [values, bytes] = blocks[type] ?? [1, 0]
    return dataOffset + offset + (dims.reduce((product, count) => product * count) / values) * bytes
  })
  return Math.max(dataOffset, ...ends)
}

class HeaderFault extends Error {}
/** More bytes of the file are needed than were read. */
class Unread extends Error {}

function readHeader(reader: Reader): GgufHeader {
  if (reader.fileBytes < 4 || reader.text(4) !== 'GGUF') {
    throw new HeaderFault(noGguf)
  }
  const version = reader.u32()
  if (version !== 2 && version !== 3) {
    throw new HeaderFault(`is a GGUF file of version ${version}; 2 and 3 are known`)
  }
  const tensorCount = reader.count(24)
  const valueCount = reader.count(12)
  const values = new Map<string, GgufValue | readonly GgufValue[]>()
  for (let i = 0; i < valueCount; i++) {
    const key = reader.string()
    values.set(key, readValue(reader, reader.u32(), key))
  }
  const tensors: GgufTensor[] = []
  for (let i = 0; i < tensorCount; i++) tensors.push(readTensor(reader))
  const alignment = values.get('general.alignment') ?? 32
  if (typeof alignment !== 'number' || alignment < 1 || (alignment & (alignment - 1)) !== 0) {
    throw new HeaderFault('has a general.alignment that is no power of two')
  }
  const dataOffset = Math.ceil(reader.position / alignment) * alignment
  return { values, tensors, dataOffset }
}

function readTensor(reader: Reader): GgufTensor {
  const name = reader.string()
  const dimensions = reader.u32()
  if (dimensions < 1 || dimensions > 4) {
    throw new HeaderFault(`has a tensor of ${dimensions} dimensions, ${quoted(name)}`)
  }
  const dims = Array.from({ length: dimensions }, () => reader.u64())
  return { name, dims, type: reader.u32(), offset: reader.u64() }
}

function readValue(reader: Reader, type: number, key: string): GgufValue | readonly GgufValue[] {
  if (type === types.string) return reader.string()
  if (type !== types.array) return reader.scalar(type, key)
  const itemType = reader.u32()
  if (itemType === types.array) throw new HeaderFault(`has arrays of arrays in ${quoted(key)}`)
  if (itemType === types.string) {
    const count = reader.count(8)
    for (let i = 0; i < count; i++) reader.skip(reader.u64())
    return []
  }
  const width = widths[itemType] ?? 0
  if (width === 0) throw new HeaderFault(`has values of an unknown type in ${quoted(key)}`)
  const count = reader.count(width)
  const kept = Array.from({ length: Math.min(count, shortArray) }, () =>
    reader.scalar(itemType, key),
  )
  reader.skip((count - kept.length) * width)
  return kept
}

const quoted = (text: string) => JSON.stringify(text.slice(0, 64))

/** Reads the first bytes of a file, never beyond its end. */
class Reader {
  readonly fileBytes: number
  readonly #bytes: Buffer
  position = 0

  constructor(bytes: Buffer, fileBytes: number) {
    this.#bytes = bytes
    this.fileBytes = fileBytes
  }

  u32(): number {
    return this.#take(4).readUInt32LE()
  }

  /** A number of bytes or items; a double must be able to count it exactly. */
  u64(): number {
    return Number(this.#take(8).readBigUInt64LE())
  }

  /** The number of items that follow, each of at least so many bytes. */
  count(bytesEach: number): number {
    const count = this.u64()
    if (count * bytesEach > this.fileBytes - this.position) throw this.#cut()
    return count
  }

  text(bytes: number): string {
    return this.#take(bytes).toString('utf8')
  }

  string(): string {
    const bytes = this.u64()
    // A chat template may be longer than a name, but not longer than this.
    if (bytes > 256 * maxNameBytes) throw this.#cut()
    return this.text(bytes)
  }

  skip(bytes: number): void {
    if (bytes > this.fileBytes - this.position) throw this.#cut()
    this.position += bytes
  }

  scalar(type: number, key: string): GgufValue {
    const bytes = this.#take(widths[type] ?? 0)
    switch (type) {
      case types.uint8:
        return bytes.readUInt8()
      case 1:
        return bytes.readInt8()
      case 2:
        return bytes.readUInt16LE()
      case 3:
        return bytes.readInt16LE()
      case 4:
        return bytes.readUInt32LE()
      case 5:
        return bytes.readInt32LE()
      case 6:
        return bytes.readFloatLE()
      case types.bool:
        return bytes.readUInt8() !== 0
      case 10:
        return bytes.readBigUInt64LE()
      case 11:
        return bytes.readBigInt64LE()
      case 12:
        return bytes.readDoubleLE()
      default:
        throw new HeaderFault(`has a value of an unknown type in ${quoted(key)}`)
    }
  }

  #take(bytes: number): Buffer {
    if (bytes > this.fileBytes - this.position) throw this.#cut()
    const end = this.position + bytes
    if (end > this.#bytes.length) throw new Unread()
    const taken = this.#bytes.subarray(this.position, end)
    this.position = end
    return taken
  }

  #cut(): HeaderFault {
    return new HeaderFault(cutHeader)
  }
}
