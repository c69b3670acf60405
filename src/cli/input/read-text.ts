/**
 * Reads what flags name: files, pipes and standard input; errors name the source.
 *
 * @module
 */

import { close } from 'node:fs'
import { promisify } from 'node:util'
import { fileText } from '../../api/file-text.js'
import { counted } from '../../api/words.js'
import { OiError } from '../../errors.js'
import { openInput, piecesOf } from '../../open-input.js'

/** More than the body of any request. */
const mostBytes = 256 * 2 ** 20

/**
 * @param path - `-` is standard input.
 * @param flag - The flag that named it; none for standard input of its own.
 * @throws {@link OiError} `ERR_CONFIG` naming the flag, and what is wrong with the file.
 */
export async function readText(path: string, flag = ''): Promise<string> {
  const bytes = await readBytes(path, flag)
  const source = flag === '' ? 'Standard input' : `${flag} ${path}`
  return namingSource(source, () => fileText(bytes))
}

/** @throws As {@link readText}. */
export async function readBytes(path: string, flag: string): Promise<Buffer> {
  const input = await openInput(path, flag)
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    const read = input.file === undefined ? input.stream : piecesOf(input.file, input.bytes)
    for await (const piece of read as AsyncIterable<Uint8Array>) {
      pieces.push(piece)
      bytes += piece.length
      if (bytes > mostBytes) throw new Error(`it has more than ${counted(mostBytes, 'byte')}`)
    }
    return Buffer.concat(pieces)
  } catch (cause) {
    const place = flag === '' ? 'Standard input' : `${flag} ${path}`
    throw new OiError('ERR_CONFIG', `${place}: ${(cause as Error).message}`, { cause })
  } finally {
    if (input.file !== undefined) await promisify(close)(input.file)
  }
}

/** Puts a text's source into the errors of a reader of bodies. */
export function namingSource<T>(source: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof OiError)) throw cause
    const reason = cause.message.replace(/^body: /, '')
    throw new OiError('ERR_CONFIG', `${source}: ${reason}`, { cause })
  }
}
