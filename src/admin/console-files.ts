/**
 * The console's files, as its build left them in the package.
 *
 * Rules
 *   1. They are read once, at the start, into a map by path: no path of a request ever reaches the
 *      file system.
 *   2. Browsers cache files with a hash in their name for good; the page that names them is
 *      requested again each time.
 *
 * @module
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { OiError } from '../errors.js'
import { pageHeaders } from './security-headers.js'
import type { Content } from '../http/contract.js'

export const consolePath = '/console'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}
const page = 'index.html'
/** Vite's names: `index-B1nQ2x3Y.js`. */
const hashed = /-[\w-]{8}\.\w+$/
/** Files that are compressed already. */
const compressed = /\.(?:png|ico|woff2)$/

const built = fileURLToPath(new URL('../console', import.meta.url))

export class ConsoleFiles {
  /** By path, such as `/console/assets/index-B1nQ2x3Y.js`. */
  readonly #files = new Map<string, Content>()

  /** @param folder - Default: the build's output. */
  constructor(folder = built) {
    // Without the page there is no console, whatever other files exist.
    if (!existsSync(join(folder, page))) return
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const type = types[extname(entry.name)]
      if (!entry.isFile() || type === undefined) continue
      const file = join(entry.parentPath, entry.name)
      const name = file.slice(folder.length + 1).replaceAll('\\', '/')
      const cache = hashed.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache'
      const path = name === page ? consolePath : `${consolePath}/${name}`
      // Text is compressed as every reply is.
      const body = readFileSync(file, compressed.test(name) ? null : 'utf8')
      const headers = [...pageHeaders, 'cache-control', cache]
      this.#files.set(path, { status: 200, type, headers, body })
    }
  }

  /** Whether the console is built. */
  get built(): boolean {
    return this.#files.size > 0
  }

  /**
   * @param path - Of a request.
   * @throws {@link OiError} `ERR_NOT_FOUND`.
   */
  content(path: string): Content {
    const file = this.#files.get(path)
    if (file !== undefined) return file
    const reason = this.built ? 'The console has no such file' : 'The console was not built'
    throw new OiError('ERR_NOT_FOUND', reason)
  }
}
