/**
 * The bytes of labelled rows: checked in a first reading and used in later ones, whatever they come
 * from.
 *
 * A pipe, a FIFO or standard input can be read once. So the first reading keeps what it reads in a
 * temporary file without a name, which ends with the process however that ends.
 *
 * @module
 */

import { close, mkdtempSync, openSync, rmSync, write } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { OiError } from '../errors.js'
import type { RequestLimits } from '../api/counts.js'
import { openInput, piecesOf } from '../open-input.js'
import { jsonLines, type RowReader } from './rows.js'
import type { LabelledRow } from './types.js'

export class RowsFile {
  /** For people: the path, or `standard input`. */
  readonly name: string
  readonly reader: RowReader
  readonly #file: number
  /** A source that has not been read yet. */
  #stream: Readable | undefined
  #bytes: number

  /**
   * @param path - `-` is standard input.
   * @throws {@link OiError} `ERR_CONFIG` if it cannot be opened, or is neither a file nor a stream.
   */
  static async open(path: string, reader = jsonLines): Promise<RowsFile> {
    const input = await openInput(path)
    return input.file === undefined
      ? new RowsFile(input.name, reader, unnamedFile(), 0, input.stream)
      : new RowsFile(input.name, reader, input.file, input.bytes, undefined)
  }

  private constructor(
    name: string,
    reader: RowReader,
    file: number,
    bytes: number,
    stream: Readable | undefined,
  ) {
    this.name = name
    this.reader = reader
    this.#file = file
    this.#bytes = bytes
    this.#stream = stream
  }

  /** The size; undefined for what has not been read to its end yet. */
  get bytes(): number | undefined {
    return this.#stream === undefined ? this.#bytes : undefined
  }

  /**
   * All bytes, from the first one, in pieces. The first reading must go to its end before the next
   * begins. A file that grows is read up to its size at the opening.
   *
   * @throws {@link OiError} `ERR_CONFIG` if they cannot be read or kept.
   */
  async *pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      if (this.#stream === undefined) yield* piecesOf(this.#file, this.#bytes)
      else yield* this.#keeping(this.#stream)
    } catch (cause) {
      if (!(cause instanceof Error && 'syscall' in cause)) throw cause
      throw new OiError('ERR_CONFIG', `${this.name}: ${cause.message}`, { cause })
    }
  }

  /** The rows of {@link pieces}. @throws {@link OiError} As the reader. */
  rows(limits: RequestLimits): AsyncIterable<LabelledRow> {
    return this.reader.rows(this.pieces(), limits)
  }

  async close(): Promise<void> {
    this.#stream?.destroy()
    await promisify(close)(this.#file)
  }

  async *#keeping(stream: Readable): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of stream as AsyncIterable<Uint8Array>) {
      for (let at = 0; at < piece.length;) {
        const length = piece.length - at
        const { bytesWritten } = await promisify(write)(this.#file, piece, at, length, this.#bytes)
        at += bytesWritten
        this.#bytes += bytesWritten
      }
      yield piece
    }
    this.#stream = undefined
  }
}

/** @returns The descriptor of an empty file. */
function unnamedFile(): number {
  const folder = mkdtempSync(join(tmpdir(), 'oi-rows-'))
  try {
    return openSync(join(folder, 'rows'), 'wx+', 0o600)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
