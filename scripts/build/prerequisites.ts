/**
 * What a build needs from the system: packages, with the command that installs missing ones, and a
 * writable folder.
 *
 * @module
 */

import { accessSync, constants } from 'node:fs'
import { missingTools } from '../../src/engine/toolchain.js'
import { root } from './paths.js'
import { BuildError } from './run.js'

/**
 * @param switches - The build's switches, without dashes.
 * @throws {@link BuildError} naming every missing tool and one command that installs them, or the
 *   folder; or on Windows, and for Metal on another system than macOS.
 */
export function checkPrerequisites(switches: ReadonlySet<string> = new Set()): void {
  if (process.platform === 'win32') {
    throw new BuildError('Windows is not supported: install and build in WSL 2.')
  }
  if (switches.has('metal') && process.platform !== 'darwin') {
    throw new BuildError('--metal: expected on macOS, the only system with Metal')
  }
  checkFolder()
  const missing = missingTools(switches)
  if (missing === undefined) return
  const { names, install } = missing
  throw new BuildError(
    `Missing: ${names}.${install === '' ? '' : `\nInstall with:\n\n  ${install}\n`}`,
  )
}

/** The package may belong to another user, or lie on a read-only disk. */
function checkFolder(): void {
  try {
    accessSync(root, constants.W_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new BuildError(
      `Cannot write in ${root}, where the addon is compiled (${code}). Run this as the user who owns it.`,
    )
  }
}
