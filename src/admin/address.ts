/**
 * The address where a server listens for its operator: a Unix domain socket in its data folder,
 * which only its owner may use; on Windows a pipe named after the folder.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { OiError } from '../errors.js'

/** Of a socket's path, without the terminating zero. */
const maxBytes = process.platform === 'linux' ? 107 : 103

/**
 * @param dataDir - An existing folder.
 * @throws {@link OiError} `ERR_CONFIG` if the path is longer than a socket's may be.
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
