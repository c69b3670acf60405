/**
 * Files that a command writes, looked at before anything is asked.
 *
 * @module
 */

import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { OiError } from '../../errors.js'
import { writeWholeFile } from '../../models/whole-file.js'

/** Refuses to write over what is read. @param read - Files by the names that users know. */
export function requireAnother(
  flag: string,
  path: string,
  read: Readonly<Record<string, string | undefined>>,
): void {
  const placeOf = (file: string) => {
    const stats = statSync(file, { throwIfNoEntry: false })
    return stats ? `${stats.dev} ${stats.ino}` : resolve(file)
  }
  const found = Object.entries(read).find(
    ([, other]) => other !== undefined && placeOf(other) === placeOf(path),
  )
  if (found === undefined) return
  throw new OiError('ERR_CONFIG', `${flag} ${path}: this is the file of ${found[0]}; name another`)
}

/** @throws {@link OiError} `ERR_CONFIG` naming the flag, if the file cannot be written. */
export function requireWritable(flag: string, path: string): void {
  const isNew = !existsSync(path)
  try {
    closeSync(openSync(path, 'a'))
    if (isNew) rmSync(path)
  } catch (cause) {
    throw new OiError('ERR_CONFIG', `${flag}: ${(cause as Error).message}`, { cause })
  }
}

/** Writes the page of `--html`. @throws {@link OiError} `ERR_INVALID_ARGUMENT`. */
export async function writePage(path: string, text: string): Promise<void> {
  try {
    await writeWholeFile(path, text)
  } catch (cause) {
    const { message } = cause as Error
    throw new OiError('ERR_INVALID_ARGUMENT', `--html ${path}: ${message}`, { cause })
  }
}
