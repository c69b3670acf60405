/**
 * Reads the header of a GGUF file without llama.cpp, which aborts at some false headers.
 *
 * Long arrays (a vocabulary) are skipped. Every length and offset is checked against the file's
 * size before it is used.
 *
 * @module
 */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

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
  readonly version: number
  /** Scalars, and the first {@link shortArray} numbers of arrays. */
  readonly values: ReadonlyMap<string, GgufValue | readonly GgufValue[]>
  readonly tensors: readonly GgufTensor[]
  /** Bytes from the file's beginning to its first tensor. */
  readonly dataOffset: number
  readonly fileBytes: number
}

/** How many values of an array are kept. */
const shortArray = 1024
const maxNameBytes = 65_535
const types = { uint8: 0, bool: 7, string: 8, array: 9 } as const
/** Bytes of a value, by its type; 0 for strings and arrays, whose size varies. */
const widths = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8]

/**
 * @returns The header, or its fault, in words that follow the file's name.
 * @throws What `openSync` throws.
 */
export function readGgufHeader(path: string): GgufHeader | string {
  const reader = new Reader(path)
  try {
    return readHeader(reader)
  } catch (error) {
    if (error instanceof HeaderFault) return error.message
    throw error
  } finally {
    reader.close()
  }
}

class HeaderFault extends Error {}

function readHeader(reader: Reader): GgufHeader {
  if (reader.fileBytes < 4 || reader.text(4) !== 'GGUF') {
    throw new HeaderFault('is not a GGUF file')
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
  return { version, values, tensors, dataOffset, fileBytes: reader.fileBytes }
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

/** Reads a file from its beginning in pieces, never beyond its end. */
class Reader {
  readonly fileBytes: number
  readonly #file: number
  #piece = Buffer.alloc(0)
  /** Offset of the piece in the file. */
  #start = 0
  /** Position in the piece. */
  #at = 0

  constructor(path: string) {
    this.#file = openSync(path, 'r')
    this.fileBytes = fstatSync(this.#file).size
  }

  close(): void {
    closeSync(this.#file)
  }

  get position(): number {
    return this.#start + this.#at
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
    const left = this.#piece.length - this.#at
    if (bytes <= left) {
      this.#at += bytes
    } else {
      this.#start += this.#at + bytes
      this.#piece = Buffer.alloc(0)
      this.#at = 0
    }
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
    if (bytes > this.#piece.length - this.#at) this.#read(bytes)
    const taken = this.#piece.subarray(this.#at, this.#at + bytes)
    this.#at += bytes
    return taken
  }

  #read(bytes: number): void {
    if (bytes > this.fileBytes - this.position) throw this.#cut()
    this.#start += this.#at
    this.#at = 0
    const piece = Buffer.alloc(Math.min(Math.max(bytes, 1 << 20), this.fileBytes - this.#start))
    const read = readSync(this.#file, piece, 0, piece.length, this.#start)
    if (read < bytes) throw this.#cut()
    this.#piece = piece.subarray(0, read)
  }

  #cut(): HeaderFault {
    return new HeaderFault('ends inside its header, or its header is damaged')
  }
}
