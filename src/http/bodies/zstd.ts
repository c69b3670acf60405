/**
 * Decompresses Zstandard data in steps. node:zlib supports it from Node 22.15 on; this works on
 * every Node, with fzstd.
 *
 * Rules
 *   1. Frames and blocks are split here, and fzstd gets one block at a time: a block holds at most
 *      128 KiB, so a step is short, and the output is counted before more is made.
 *   2. A frame that asks for a larger window than HTTP allows (RFC 9659: 8 MiB) is refused before
 *      anything is allocated. fzstd allocates the window that a frame asks for, so the frame is
 *      changed to ask for the smallest window that its blocks can fill.
 *   3. fzstd does not check checksums: the reader of the text finds damaged data.
 *
 * @module
 */

import { Decompress } from 'fzstd'
import type { Steps } from '../../api/turns.js'

/** The data are damaged, or use what the coding does not allow. */
export class DamagedData extends Error {}

const frameMagic = 0xfd2fb528
/** Of skippable frames: the last four bits are free. */
const skippableMagic = 0x184d2a50
const mostWindowBytes = 8 * 2 ** 20
const mostBlockBytes = 131_072
const rawBlock = 0
const rleBlock = 1

/** A frame, with what is known without reading its blocks. */
interface Frame {
  /** Its head, with the smallest window that suffices. */
  readonly head: Uint8Array
  /** The end of each block. */
  readonly ends: readonly number[]
  /** The length of the content as the head states it; undefined if it does not. */
  readonly contentBytes: number | undefined
  /** The end of the frame. */
  readonly end: number
}

/**
 * @param grow - Called with the number of bytes so far, before more are made; an error that it
 *   throws ends the work.
 * @returns The content, in pieces.
 * @throws {@link DamagedData}
 */
export function* inflateZstd(bytes: Buffer, grow: (length: number) => void): Steps<Uint8Array[]> {
  const pieces: Uint8Array[] = []
  let length = 0
  for (let at = 0; at < bytes.length;) {
    const magic = bytes.length - at >= 8 ? bytes.readUInt32LE(at) : 0
    if ((magic & ~15) >>> 0 === skippableMagic) {
      at += 8 + bytes.readUInt32LE(at + 4)
      if (at > bytes.length) throw new DamagedData('a frame is cut off')
      continue
    }
    if (magic !== frameMagic) throw new DamagedData('a frame does not begin as one')
    const frame = readFrame(bytes, at)
    if (frame.contentBytes !== undefined) grow(length + frame.contentBytes)
    const before = length
    const decoder = new Decompress((piece) => {
      pieces.push(piece)
      length += piece.length
    })
    push(decoder, frame.head, false)
    let start = at + frame.head.length
    for (const [i, end] of frame.ends.entries()) {
      const last = i === frame.ends.length - 1
      push(decoder, bytes.subarray(start, last ? frame.end : end), last)
      start = end
      grow(length)
      yield
    }
    const { contentBytes = length - before } = frame
    if (length - before !== contentBytes)
      throw new DamagedData("a frame's content has another length than stated")
    at = frame.end
  }
  return pieces
}

function push(decoder: Decompress, bytes: Uint8Array, last: boolean): void {
  try {
    decoder.push(bytes, last)
  } catch (cause) {
    throw new DamagedData('a block cannot be read', { cause })
  }
}

function readFrame(bytes: Buffer, start: number): Frame {
  const flags = bytes[start + 4]!
  const single = (flags & 32) !== 0
  const sizeBytes = sizeLength(flags >> 6, single)
  const dictionaryBytes = [0, 1, 2, 4][flags & 3]!
  const sizeAt = start + 5 + (single ? 0 : 1) + dictionaryBytes
  const headEnd = sizeAt + sizeBytes
  if (headEnd > bytes.length) throw new DamagedData('a frame is cut off')
  if (dictionaryBytes > 0) throw new DamagedData('a frame needs a dictionary')
  const contentBytes = sizeBytes === 0 ? undefined : readSize(bytes, sizeAt, sizeBytes)
  const { ends, most } = readBlocks(bytes, headEnd)
  const end = ends.at(-1)! + ((flags & 4) === 0 ? 0 : 4)
  if (end > bytes.length) throw new DamagedData('a frame is cut off')
  const head = Buffer.from(bytes.subarray(start, headEnd))
  if (single) {
    // The window is the content, which cannot exceed what the blocks hold.
    if (contentBytes! > most)
      throw new DamagedData("a frame's content has another length than stated")
  } else {
    const descriptor = head[5]!
    if (windowBytes(descriptor) > mostWindowBytes) {
      throw new DamagedData(`a frame asks for a window of more than ${mostWindowBytes} bytes`)
    }
    head[5] = Math.min(descriptor, descriptorOf(Math.max(most, mostBlockBytes)))
  }
  return { head, ends, contentBytes, end }
}

/** Size of the field with the content's length. */
function sizeLength(flag: number, single: boolean): number {
  if (flag === 0) return single ? 1 : 0
  return 2 ** flag
}

function readSize(bytes: Buffer, at: number, length: number): number {
  if (length === 1) return bytes[at]!
  if (length === 2) return bytes.readUInt16LE(at) + 256
  if (length === 4) return bytes.readUInt32LE(at)
  return Number(bytes.readBigUInt64LE(at))
}

/** @returns The ends of a frame's blocks, and the most that they can hold. */
function readBlocks(bytes: Buffer, start: number): { ends: number[]; most: number } {
  const ends: number[] = []
  let most = 0
  for (let at = start, last = false; !last;) {
    if (at + 3 > bytes.length) throw new DamagedData('a frame is cut off')
    const head = bytes.readUIntLE(at, 3)
    last = (head & 1) === 1
    const type = (head >> 1) & 3
    const size = head >> 3
    if (size > mostBlockBytes) throw new DamagedData('a block is too long')
    most += type === rawBlock || type === rleBlock ? size : mostBlockBytes
    at += 3 + (type === rleBlock ? 1 : size)
    if (at > bytes.length) throw new DamagedData('a frame is cut off')
    ends.push(at)
  }
  return { ends, most }
}

function windowBytes(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3))
  return base + (base / 8) * (descriptor & 7)
}

/** The descriptor of the smallest window with at least this many bytes. */
function descriptorOf(least: number): number {
  const exponent = Math.ceil(Math.log2(least))
  return (exponent - 10) << 3
}
