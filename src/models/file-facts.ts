/**
 * The facts about a weights file that need no loading: its name, date and digest.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { OiError } from '../errors.js'

export interface FileFacts {
  readonly fileName: string
  /** `sha256:` and 64 hex digits. */
  readonly digest: string
  /** ISO date of the file's last change. */
  readonly releaseDate: string
}

/** @throws {@link OiError} `ERR_MODEL_NOT_FOUND` if the file cannot be read. */
export async function fileFacts(path: string): Promise<FileFacts> {
  try {
    const { mtime } = await stat(path)
    return {
      fileName: basename(path),
      digest: `sha256:${await sha256Of(path)}`,
      releaseDate: mtime.toISOString().slice(0, 10),
    }
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

/**
 * @param onBytes - Called with the size of each piece that was read.
 * @returns 64 hex digits.
 */
export async function sha256Of(
  path: string,
  onBytes?: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<string> {
  const hash = createHash('sha256')
  // Large pieces: each piece costs a turn of the event loop.
  const options = { highWaterMark: 4 << 20, ...(signal && { signal }) }
  for await (const piece of createReadStream(path, options)) {
    hash.update(piece as Buffer)
    onBytes?.((piece as Buffer).length)
  }
  return hash.digest('hex')
}

/** Size of a file. @throws {@link OiError} `ERR_MODEL_NOT_FOUND` if it cannot be read. */
export async function fileBytes(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

function unreadable(path: string, cause: unknown): OiError {
  return new OiError('ERR_MODEL_NOT_FOUND', `${path} cannot be read`, { cause })
}
