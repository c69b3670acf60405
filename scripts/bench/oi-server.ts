/**
 * `oi serve` as a user starts it, on an empty data folder and a free port.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ModelFile } from './bench.js'
import { Child } from './child.js'

const command = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

export interface OiServer {
  readonly port: number
  readonly key: string
}

/** Starts the server, gives it to `use` when it is ready, stops it whatever happens. */
export async function withOiServer<T>(
  { path, threads }: ModelFile,
  use: (server: OiServer) => Promise<T>,
): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'oi-bench-'))
  try {
    await using child = new Child(process.execPath, [
      ...[command, 'serve', '--model', path, '--threads', String(threads)],
      ...['--port', '0', '--data-dir', dataDir, '--deadline-ms', '600000'],
    ])
    const [, port] = await child.match(/Listening on http:\/\/[^\s:]+:(\d+)/)
    const [key] = await child.match(/oi-[\w-]{43}/)
    await child.match(/^Ready$/m)
    return await use({ port: Number(port), key })
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
