/**
 * Where spools are: their folders and their names.
 *
 * @module
 */

import { lstatSync, readdirSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { userFolder } from '../../user-folder.js'

const beginning = 'oi-accounts-'
const ending = '.jsonl'
/** Behind the name of a spool that is being written. */
export const partly = '.part'
/** When a part has been written or its writer is gone, milliseconds. */
const partMs = 3_600_000

/** The name of a spool's file. */
export const nameOf = (id: string) => `${beginning}${id}${ending}`

/** The first that accepts a spool has it. */
export function spoolFolders(): string[] {
  const state = userFolder('XDG_STATE_HOME', join('.local', 'state'))
  return [...(state === undefined ? [] : [join(state, 'oi')]), tmpdir()]
}

/** The spools of all data folders. Never throws. */
export function allSpools(): string[] {
  return spoolFolders().flatMap((folder) =>
    namesIn(folder)
      .filter((name) => name.startsWith(beginning) && name.endsWith(ending))
      .map((name) => join(folder, name)),
  )
}

/** Removes what killed writers of spools have left, of whatever data folder. Never throws. */
export function removeOldParts(): void {
  const endMs = Date.now() - partMs
  for (const folder of spoolFolders()) {
    for (const name of namesIn(folder)) {
      if (!name.startsWith(beginning) || !name.endsWith(ending + partly)) continue
      const path = join(folder, name)
      try {
        if (isOurs(path) && lstatSync(path).mtimeMs < endMs) unlinkSync(path)
      } catch {
        // Another process has removed it.
      }
    }
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Anybody can write to the temporary folder: another user's file is not our usage. */
export function isOurs(path: string): boolean {
  const found = lstatSync(path)
  return found.isFile() && found.uid === process.getuid?.()
}
