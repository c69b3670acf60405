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

/** Whose spools, and where. */
export interface SpoolPlace {
  /** The accounts: their data folder, without links, or their id in PostgreSQL. */
  readonly owner: string
  /** A folder before the usual ones: the data folder, where the accounts are not in it. */
  readonly folder?: string | undefined
}

/** The first that accepts a spool has it. */
export function spoolFolders({ folder }: Pick<SpoolPlace, 'folder'>): string[] {
  const state = userFolder('XDG_STATE_HOME', join('.local', 'state'))
  const own = folder === undefined ? [] : [join(folder, 'spools')]
  return [...own, ...(state === undefined ? [] : [join(state, 'oi')]), tmpdir()]
}

/** The spools of all accounts. Never throws. */
export function allSpools(place: SpoolPlace): string[] {
  return spoolFolders(place).flatMap((folder) =>
    namesIn(folder)
      .filter((name) => name.startsWith(beginning) && name.endsWith(ending))
      .map((name) => join(folder, name)),
  )
}

/** Removes what killed writers of spools have left, of whatever data folder. Never throws. */
export function removeOldParts(place: SpoolPlace): void {
  const endMs = Date.now() - partMs
  for (const folder of spoolFolders(place)) {
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
