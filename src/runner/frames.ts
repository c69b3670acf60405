/**
 * Frames on a stream between two processes: a length, a kind, an id, a payload.
 *
 * Twelve bytes of head, little endian: the payload's length, the kind, the id, 32 bits each.
 * A peer that announces more than a frame may hold, or a kind that nobody knows, speaks another
 * language: what follows cannot be understood, so the stream is given up.
 *
 * @module
 */

export const headBytes = 12

/** More than eight pictures of the largest size with their texts; less than a Buffer can hold. */
export const maxPayloadBytes = 2 ** 29

export interface Frame {
  readonly kind: number
  readonly id: number
  /** A view of received bytes: copied by whoever keeps it. */
  readonly payload: Buffer
}

/** The peer broke the protocol; the message says how. */
export class ProtocolError extends Error {}

/** Makes room for a frame. @returns Its buffer, head written; the payload begins behind it. */
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

/** Takes a stream's bytes as they come, and gives its frames. */
export class FrameReader {
  readonly #onFrame: (frame: Frame) => void
  readonly #kinds: ReadonlySet<number>
  /** What has come of a frame that is not whole. */
  #chunks: Buffer[] = []
  #length = 0
  /** Bytes after which the frame that is under way can be looked at again. */
  #wanted = headBytes

  /** @param kinds - Those that may come. */
  constructor(kinds: Iterable<number>, onFrame: (frame: Frame) => void) {
    this.#kinds = new Set(kinds)
    this.#onFrame = onFrame
  }

  /**
   * @param chunk - Its bytes may be used again afterwards.
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

  /** A copy: whose bytes they are may use them again. */
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
 * @throws {@link ProtocolError} If it is more than a frame may hold.
 */
export function payloadBytesOf(bytes: Buffer, at = 0): number {
  const length = bytes.readUInt32LE(at)
  if (length > maxPayloadBytes) throw new ProtocolError(`A frame of ${length} bytes is too long`)
  return length
}
