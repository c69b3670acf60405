/**
 * Folders of the user that this process runs as. Imports nothing of the project.
 *
 * @module
 */

import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/**
 * @param variable - The environment variable of the folder; a relative path is ignored.
 * @param inHome - The default, relative to the home folder.
 * @returns Undefined for a user without a home: a container may run under a user id that the system
 *   does not know.
 */
export function userFolder(
  variable: 'XDG_CACHE_HOME' | 'XDG_STATE_HOME',
  inHome: string,
): string | undefined {
  const named = process.env[variable]
  if (named !== undefined && isAbsolute(named)) return named
  const home = homeFolder()
  return home === undefined ? undefined : join(home, inHome)
}

function homeFolder(): string | undefined {
  try {
    const home = homedir()
    return isAbsolute(home) ? home : undefined
  } catch {
    return undefined
  }
}
