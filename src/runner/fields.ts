/**
 * Fields of a payload, one behind another: numbers, texts, arrays of numbers.
 *
 * No tags: both sides know the order (messages.ts). A length precedes arrays and texts. Arrays are
 * copied out of the received buffer, which is reused and may be unaligned.
 *
 * @module
 */

import { ProtocolError } from './frames.js'

type Numbers = Uint8Array | Int32Array | Float32Array

/** Sizes of fields, bytes. */
export const sizeOf = {
  uint32: 4,
  float64: 8,
  text: (text: string) => 4 + Buffer.byteLength(text),
  numbers: (numbers: Numbers) => 4 + numbers.byteLength,
} as const

/** Writes fields into a buffer of sufficient size. */
export class FieldWriter {
  readonly #buffer: Buffer
  #at: number

  constructor(buffer: Buffer, at: number) {
    this.#buffer = buffer
    this.#at = at
  }

  uint32(value: number): void {
    this.#at = this.#buffer.writeUInt32LE(value, this.#at)
  }

  float64(value: number): void {
    this.#at = this.#buffer.writeDoubleLE(value, this.#at)
  }

  text(text: string): void {
    const bytes = this.#buffer.write(text, this.#at + 4)
    this.uint32(bytes)
    this.#at += bytes
  }

  numbers(numbers: Numbers): void {
    this.uint32(numbers.byteLength)
    const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)
    this.#buffer.set(bytes, this.#at)
    this.#at += bytes.length
  }
}

/** Reads fields. Every method throws {@link ProtocolError} if they end too early. */
export class FieldReader {
  readonly #buffer: Buffer
  #at = 0

  constructor(buffer: Buffer) {
    this.#buffer = buffer
  }

  uint32(): number {
    return this.#buffer.readUInt32LE(this.#skip(4))
  }

  float64(): number {
    return this.#buffer.readDoubleLE(this.#skip(8))
  }

  text(): string {
    const length = this.uint32()
    const begin = this.#skip(length)
    return this.#buffer.toString('utf8', begin, begin + length)
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.#copy(1))
  }

  int32s(): Int32Array {
    return new Int32Array(this.#copy(Int32Array.BYTES_PER_ELEMENT))
  }

  float32s(): Float32Array {
    return new Float32Array(this.#copy(Float32Array.BYTES_PER_ELEMENT))
  }

  #copy(multiple: number): ArrayBuffer {
    const length = this.uint32()
    if (length % multiple !== 0) throw new ProtocolError('An array ends within a number')
    const copy = new ArrayBuffer(length)
    const begin = this.#skip(length)
    this.#buffer.copy(new Uint8Array(copy), 0, begin, begin + length)
    return copy
  }

  /** @returns The start of the skipped bytes. */
  #skip(count: number): number {
    const begin = this.#at
    if (begin + count > this.#buffer.length) throw new ProtocolError('A payload ends too early')
    this.#at = begin + count
    return begin
  }
}
