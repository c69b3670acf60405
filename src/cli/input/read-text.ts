/**
 * Reads files and standard input; errors name the source.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { fileText } from '../../api/file-text.js'
import { OiError } from '../../errors.js'

/** @throws {@link OiError} `ERR_CONFIG` naming the flag that named the file. */
export function readTextFile(flag: string, path: string): string {
  const bytes = readBytes(flag, path)
  return namingSource(`${flag} ${path}`, () => fileText(bytes))
}

/** @throws {@link OiError} `ERR_CONFIG` naming the flag that named the file. */
export function readBytes(flag: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? `there is no file ${path}` : message
    throw new OiError('ERR_CONFIG', `${flag}: ${reason}`, { cause })
  }
}

/** @throws {@link OiError} `ERR_CONFIG` if it is not UTF-8. */
export async function readStandardInput(): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of process.stdin) pieces.push(piece as Buffer)
  return namingSource('Standard input', () => fileText(Buffer.concat(pieces)))
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
