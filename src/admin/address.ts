/**
 * Where a server listens for those who run it: a Unix domain socket in its data folder, which its
 * owner alone may use, or on Windows a pipe that is named after the folder.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { OiError } from '../errors.js'

/** Of the system's addresses, the zero at their end left out. */
const maxBytes = process.platform === 'linux' ? 107 : 103

/**
 * @param dataDir - A folder that is there.
 * @throws {@link OiError} `ERR_CONFIG` if the path is longer than an address can be.
 */
export function adminAddress(dataDir: string): string {
  if (process.platform === 'win32') {
    const folder = realpathSync(dataDir).toLowerCase()
    return `\\\\.\\pipe\\oi-${createHash('sha256').update(folder).digest('hex').slice(0, 32)}`
  }
  const whole = resolve(dataDir, 'admin.sock')
  const short = relative(process.cwd(), whole)
  const path = [whole, short].find((path) => Buffer.byteLength(path) <= maxBytes)
  if (path !== undefined) return path
  throw new OiError(
    'ERR_CONFIG',
    `${join(dataDir, 'admin.sock')} is longer than the ${maxBytes} bytes that a socket's path can have`,
  )
}
