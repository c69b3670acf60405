/**
 * The bytes of labelled rows: checked in a first reading and used in later ones, whatever they come
 * from.
 *
 * A pipe, a FIFO or standard input can be read once. So the first reading keeps what it reads in a
 * temporary file without a name, which ends with the process however that ends.
 *
 * @module
 */

import { close, mkdtempSync, openSync, rmSync, write, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { OiError } from '../../errors.js'
import type { RequestLimits } from '../../api/counts.js'
import { openInput, piecesOf } from '../../open-input.js'
import { unzipped } from './pieces.js'
import type { Place } from './records.js'
import { labelledReader, type RowReader } from './rows.js'
import type { LabelledRow } from './types.js'

export class RowsFile<Row = LabelledRow> {
  /** For people: the path, or `standard input`. */
  readonly name: string
  readonly reader: RowReader<Row>
  readonly #file: number
  /** A source that has not been read yet. */
  #stream: Readable | undefined
  #bytes: number
  /** Of the current reading. */
  #read = 0

  /**
   * @param path - `-` is standard input.
   * @throws {@link OiError} `ERR_CONFIG` if it cannot be opened, or is neither a file nor a stream.
   */
  static async open(path: string): Promise<RowsFile>
  static async open<Row>(path: string, reader: RowReader<Row> | undefined): Promise<RowsFile<Row>>
  static async open(path: string, reader: RowReader<unknown> = labelledReader) {
    const input = await openInput(path)
    return input.file === undefined
      ? new RowsFile(input.name, reader, unnamedFile(), 0, input.stream)
      : new RowsFile(input.name, reader, input.file, input.bytes, undefined)
  }

  private constructor(
    name: string,
    reader: RowReader<Row>,
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

  /** The share of the current reading, 0 to 1; undefined for what is read for the first time. */
  get share(): number | undefined {
    return this.#stream === undefined ? this.#read / this.#bytes : undefined
  }

  /**
   * All bytes, from the first one, in pieces; of a gzip file its contents. The first reading must go
   * to its end before the next begins. A file that grows is read up to its size at the opening.
   *
   * @throws {@link OiError} `ERR_CONFIG` if they cannot be read or kept; as {@link unzipped}.
   */
  async *pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* unzipped(this.#stored())
    } catch (cause) {
      if (!(cause instanceof Error && 'syscall' in cause)) throw cause
      throw new OiError('ERR_CONFIG', `${this.name}: ${cause.message}`, { cause })
    }
  }

  /** The rows of {@link pieces}. @throws {@link OiError} As the reader. */
  rows(limits: RequestLimits): AsyncIterable<Row> {
    return this.reader.rows(this.pieces(), limits)
  }

  async close(): Promise<void> {
    this.#stream?.destroy()
    await promisify(close)(this.#file)
  }

  async *#stored(): AsyncGenerator<Uint8Array, void, undefined> {
    this.#read = 0
    const stream = this.#stream
    const pieces = stream ? this.#keeping(stream) : piecesOf(this.#file, this.#bytes)
    for await (const piece of pieces) {
      this.#read += piece.byteLength
      yield piece
    }
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

/** The rows of these lines; reading ends behind the last of them. */
export async function* rowsAt<Row extends Place>(
  rows: AsyncIterable<Row>,
  lines: ReadonlySet<number>,
): AsyncGenerator<Row, void, undefined> {
  let left = lines.size
  if (left === 0) return
  for await (const row of rows) {
    if (!lines.has(row.line)) continue
    yield row
    if (--left === 0) return
  }
}

/** Writes all of a text. @throws {@link OiError} `ERR_INVALID_ARGUMENT` naming the file's flag. */
export function writeText(file: number, text: string, flag: string): void {
  const bytes = Buffer.from(text)
  try {
    // A nearly full disk takes a part; the next write then fails with the reason.
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
  } catch (cause) {
    throw new OiError('ERR_INVALID_ARGUMENT', `${flag}: ${(cause as Error).message}`, { cause })
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
