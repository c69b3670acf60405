/**
 * Frames on a stream between two processes: a length, a kind, an id, a payload.
 *
 * Twelve bytes of head, little endian: the payload's length, the kind, the id, 32 bits each. A
 * frame that is too long or of an unknown kind breaks the protocol: the bytes behind it cannot be
 * interpreted, so the stream is closed.
 *
 * @module
 */

export const headBytes = 12

/** More than eight images of the largest size with their texts; less than a Buffer can hold. */
const maxPayloadBytes = 2 ** 29

export interface Frame {
  readonly kind: number
  readonly id: number
  /** A view of received bytes: copy it to keep it. */
  readonly payload: Buffer
}

/** The peer broke the protocol; the message says how. */
export class ProtocolError extends Error {}

/** Allocates a frame. @returns Its buffer, with its head written; the payload follows. */
export function newFrame(kind: number, id: number, payloadBytes: number): Buffer {
  if (payloadBytes > maxPayloadBytes) {
    throw new ProtocolError(`A payload of ${payloadBytes} bytes is more than a frame may hold`)
  }
  const frame = Buffer.allocUnsafe(headBytes + payloadBytes)
  frame.writeUInt32LE(payloadBytes, 0)
  frame.writeUInt32LE(kind, 4)
  frame.writeUInt32LE(id, 8)
  return frame
}

/** Splits a stream's bytes into frames. */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void
  readonly #kinds: ReadonlySet<number>
  /** The received part of an incomplete frame. */
  #chunks: Buffer[] = []
  #length = 0
  /** Bytes until the incomplete frame can be read further. */
  #wanted = headBytes

  /** @param kinds - The allowed kinds. */
  constructor(kinds: Iterable<number>, onFrame: (frame: Frame) => void) {
    this.#kinds = new Set(kinds)
    this.#onFrame = onFrame
  }

  /**
   * @param chunk - Its buffer may be reused afterwards.
   * @throws {@link ProtocolError} After which nothing more may be pushed.
   */
  push(chunk: Buffer): void {
    let bytes = chunk
    if (this.#length > 0) {
      if (this.#length + chunk.length < this.#wanted) return this.#keep(chunk)
      bytes = Buffer.concat([...this.#chunks, chunk])
      this.#chunks = []
      this.#length = 0
    }
    this.#wanted = headBytes
    let at = 0
    while (bytes.length - at >= headBytes) {
      const begin = at + headBytes
      const end = begin + this.#payloadBytes(bytes, at)
      if (bytes.length < end) {
        this.#wanted = end - at
        break
      }
      const [kind, id] = [bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at + 8)]
      at = end
      this.#onFrame({ kind, id, payload: bytes.subarray(begin, end) })
    }
    if (at < bytes.length) this.#keep(bytes.subarray(at))
  }

  /** Keeps a copy: the caller reuses the buffer. */
  #keep(bytes: Buffer): void {
    this.#chunks.push(Buffer.from(bytes))
    this.#length += bytes.length
  }

  #payloadBytes(bytes: Buffer, at: number): number {
    const kind = bytes.readUInt32LE(at + 4)
    if (!this.#kinds.has(kind)) throw new ProtocolError(`There is no kind of message ${kind}`)
    return payloadBytesOf(bytes, at)
  }
}

/**
 * @param at - Where a head begins.
 * @throws {@link ProtocolError} If the frame is too long.
 */
export function payloadBytesOf(bytes: Buffer, at = 0): number {
  const length = bytes.readUInt32LE(at)
  if (length > maxPayloadBytes) throw new ProtocolError(`A frame of ${length} bytes is too long`)
  return length
}
