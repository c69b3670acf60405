/**
 * Folders of the user that this process runs as. Imports nothing of the project.
 *
 * @module
 */

import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/**
 * @param variable - Names the folder; a relative path counts as none.
 * @param inHome - Where it is in the home folder, unless it is named.
 * @returns Undefined for a user without a home: a container may run as any number, which the system
 *   has no entry for.
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
