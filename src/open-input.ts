/**
 * Opens what a user names to be read: a file, or what can be read once (a pipe, a FIFO, a terminal,
 * standard input).
 *
 * Rules
 *   1. Anything else is refused by what it is: a folder, a socket, a device.
 *   2. Waiting for the other end of a FIFO or a pipe holds no thread, in which it would outlast
 *      an end of the process: every signal ends it.
 *
 * @module
 */

import { close, constants, fstat, open, read, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { isatty, ReadStream } from 'node:tty'
import { promisify } from 'node:util'
import { type ErrorCode, OiError } from './errors.js'

export type Input = {
  /** For messages: the path, or `standard input`. */
  readonly name: string
} & (
  | {
      /** The descriptor of a regular file, which the caller closes. */
      readonly file: number
      readonly bytes: number
    }
  | { readonly file: undefined; readonly stream: Readable }
)

/** As programs name it. On Linux its path would fail if it is a socket, as under other programs. */
const standardInput = ['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0']
const pieceBytes = 256 * 2 ** 10

/**
 * @param path - `-` is standard input.
 * @param flag - The flag that named it, for messages.
 * @throws {@link OiError} `ERR_CONFIG` if it cannot be opened, or is neither a file nor a stream.
 */
export async function openInput(path: string, flag = ''): Promise<Input> {
  const place = flag === '' ? path : `${flag} ${path}`
  if (standardInput.includes(path)) {
    const { stdin } = process
    if (stdin.destroyed) throw unusable(place, 'standard input has been read already')
    return { name: 'standard input', file: undefined, stream: stdin }
  }
  let file: number
  try {
    // Rule 2. For files O_NONBLOCK means nothing.
    file = await promisify(open)(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    throw unusable(place, reasonOf(cause as NodeJS.ErrnoException), cause)
  }
  try {
    const stats = await promisify(fstat)(file)
    if (stats.isFile()) return { name: path, file, bytes: stats.size }
    if (stats.isFIFO()) {
      const stream = new Socket({ fd: file, readable: true, writable: false })
      return { name: path, file: undefined, stream }
    }
    if (isatty(file)) return { name: path, file: undefined, stream: new ReadStream(file) }
    throw unusable(place, `it is ${kindOf(stats)}`)
  } catch (error) {
    await promisify(close)(file).catch(() => {})
    throw error
  }
}

/** The bytes of a regular file, from its beginning, in pieces. @param bytes - Where to stop. */
export async function* piecesOf(
  file: number,
  bytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes;) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, bytes - at))
    const { bytesRead } = await promisify(read)(file, piece, 0, piece.length, at)
    if (bytesRead === 0) return
    yield piece.subarray(0, bytesRead)
    at += bytesRead
  }
}

/**
 * Refuses what is no file, such as a FIFO or a folder, before anything opens it: opening a FIFO waits
 * for its other end, and what it reads is lost to others. What cannot be looked at passes: opening it
 * reports the error.
 *
 * @param code - Of the error.
 * @throws {@link OiError} Naming the path and what it is.
 */
export async function requireFile(path: string, code: ErrorCode): Promise<void> {
  const stats = await stat(path).catch(() => undefined)
  const kind = stats && kindOf(stats)
  if (kind !== undefined) throw new OiError(code, `${path} is ${kind}, expected a file`)
}

/** `a folder`, `a FIFO`, …; undefined for a regular file. */
export function kindOf(stats: Stats): string | undefined {
  if (stats.isFile()) return undefined
  if (stats.isDirectory()) return 'a folder'
  if (stats.isFIFO()) return 'a FIFO'
  return stats.isSocket() ? 'a socket' : 'a device'
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'there is no such file'
  return code === 'ENXIO' ? 'it is a socket' : message
}

function unusable(place: string, reason: string, cause?: unknown): OiError {
  return new OiError('ERR_CONFIG', `${place}: ${reason}`, { cause })
}
