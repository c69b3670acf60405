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
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { OiError } from '../errors.js'
import type { Head } from '../http/transport/head.js'
import type { Content } from '../http/reply/reply.js'
import { acceptsCoding } from '../http/reply/reply-coding.js'
import { pageHeaders } from './security-headers.js'

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
const compress = promisify(gzip)
/** Compressing shorter files gains nothing. */
const worthCompressing = 1024

const built = fileURLToPath(new URL('../console', import.meta.url))

interface File {
  readonly type: string
  readonly bytes: Uint8Array
  readonly cache: string
  /** Made on first use. */
  compressed?: Promise<Uint8Array>
}

export class ConsoleFiles {
  /** By path, such as `/console/assets/index-B1nQ2x3Y.js`. */
  readonly #files = new Map<string, File>()

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
      this.#files.set(path, { type, bytes: readFileSync(file), cache })
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
  content(path: string, head: Head): Content | Promise<Content> {
    const file = this.#files.get(path)
    if (file === undefined) {
      const reason = this.built ? 'The console has no such file' : 'The console was not built'
      throw new OiError('ERR_NOT_FOUND', reason)
    }
    const { type, bytes, cache } = file
    const headers = [...pageHeaders, 'cache-control', cache, 'vary', 'accept-encoding']
    const plain = bytes.length < worthCompressing || type.startsWith('image/png')
    if (plain || !acceptsCoding(head.getHeader('accept-encoding'), 'gzip')) {
      return { status: 200, type, headers, body: bytes }
    }
    file.compressed ??= compress(bytes, { level: 9 })
    return file.compressed.then((body) => {
      return { status: 200, type, headers: [...headers, 'content-encoding', 'gzip'], body }
    })
  }
}
