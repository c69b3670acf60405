/**
 * Bytes in pieces: what they begin with, and those of a gzip file.
 *
 * @module
 */

import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { OiError } from '../../errors.js'

export type Pieces = AsyncIterable<Uint8Array>

/**
 * Looks at the first bytes, which stay in `all`.
 *
 * @param enough - Whether these first bytes tell what is asked; all of a short source may not.
 */
export async function lookAhead(
  pieces: Pieces,
  enough: (head: Buffer) => boolean,
): Promise<{ readonly head: Buffer; readonly all: Pieces }> {
  const rest = pieces[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  while (!enough(head)) {
    const next = await rest.next()
    if (next.done) break
    head = Buffer.concat([head, next.value])
  }
  async function* all() {
    try {
      if (head.length > 0) yield head
      yield* { [Symbol.asyncIterator]: () => rest }
    } finally {
      await rest.return?.()
    }
  }
  return { head, all: all() }
}

const gzipMark = [0x1f, 0x8b]

/**
 * The contents, if the bytes are those of a gzip file; else the bytes.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` if such a file is damaged or cut off.
 */
export async function* unzipped(pieces: Pieces): AsyncGenerator<Uint8Array, void, undefined> {
  const { head, all } = await lookAhead(pieces, ({ length }) => length >= gzipMark.length)
  if (!gzipMark.every((byte, i) => head[i] === byte)) {
    yield* all
    return
  }
  const gunzip = createGunzip()
  pipeline(Readable.from(all), gunzip, () => {})
  try {
    yield* gunzip as AsyncIterable<Uint8Array>
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (!code?.startsWith('Z_')) throw cause
    throw new OiError('ERR_BODY_INVALID', `not a whole gzip file: ${message}`, { cause })
  }
}
