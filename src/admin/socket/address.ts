/**
 * The address where a server listens for its operator: a Unix domain socket in its data folder,
 * which only its owner may use; on Windows a pipe named after the folder.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { closeSync, constants, existsSync, openSync, realpathSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { OiError } from '../../errors.js'

export interface AdminAddress {
  readonly path: string
  /** To be called when the path is not used any more. */
  release(): void
}

/** Of a socket's path, without the terminating zero. */
const maxBytes = process.platform === 'linux' ? 107 : 103
const ownFiles = '/proc/self/fd'

/**
 * @param dataDir - An existing folder.
 * @throws {@link OiError} `ERR_CONFIG` if the path is longer than a socket's may be, and the system
 *   has no shorter one.
 */
export function adminAddress(dataDir: string): AdminAddress {
  if (process.platform === 'win32') {
    const folder = realpathSync(dataDir).toLowerCase()
    const name = createHash('sha256').update(folder).digest('hex').slice(0, 32)
    return unowned(`\\\\.\\pipe\\oi-${name}`)
  }
  const whole = resolve(dataDir, 'admin.sock')
  const short = relative(process.cwd(), whole)
  const path = [whole, short].find((path) => Buffer.byteLength(path) <= maxBytes)
  if (path !== undefined) return unowned(path)
  if (existsSync(ownFiles)) return throughFolder(dataDir)
  throw new OiError(
    'ERR_CONFIG',
    `${join(dataDir, 'admin.sock')} is longer than the ${maxBytes} bytes that a socket's path can have`,
  )
}

const unowned = (path: string): AdminAddress => ({ path, release: () => {} })

/** The same socket by the descriptor of its open folder, whose path is short. */
function throughFolder(dataDir: string): AdminAddress {
  const folder = openSync(dataDir, constants.O_RDONLY | constants.O_DIRECTORY)
  const path = `${ownFiles}/${folder}/admin.sock`
  return { path, release: () => closeSync(folder) }
}
