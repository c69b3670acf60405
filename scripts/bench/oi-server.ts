/**
 * `oi serve` as a user starts it, on an empty data folder and a free port; workspaces have no
 * limits, because the server is measured.
 *
 * @module
 */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Child } from './child.js'
import type { ModelFile } from './model-file.js'

const command = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

/** Settings with which no request is refused or given up, however slow the model is. */
export const patientSettings = ['--deadline-ms', '3600000', '--max-backlog-ms', '3600000']

/** A cache that is full at once: later growth is not the cache's. */
export const smallCache = ['--host-cache-mb', '4']

export interface OiServer {
  readonly port: number
  readonly key: string
  readonly pid: number
  /** Makes a workspace without limits. @returns One of its keys. */
  createKey(workspace: string): string
}

/**
 * Starts the server, passes it to `use` when it is ready, and always stops it.
 *
 * @param settings - Flags of `oi serve`.
 */
export async function withOiServer<T>(
  { path, threads, kernels }: ModelFile,
  use: (server: OiServer) => Promise<T>,
  settings: readonly string[] = patientSettings,
): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'oi-bench-'))
  const data = ['--data-dir', dataDir]
  const oi = (...args: string[]) =>
    execFileSync(process.execPath, [command, ...args, ...data], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  try {
    await using child = new Child(process.execPath, [
      ...[command, 'serve', '--model', path, '--threads', String(threads), '--port', '0'],
      ...['--kernels', kernels, ...data, ...settings],
    ])
    const [, port] = await child.match(/Listening on http:\/\/[^\s:]+:(\d+)/)
    const [key] = await child.match(/oi-[\w-]{43}/)
    await child.match(/^Ready$/m)
    const limits = ['--requests-per-minute', '0', '--concurrent', '0']
    oi('workspaces', 'set-limits', 'default', ...limits)
    return await use({
      port: Number(port),
      key,
      pid: child.pid!,
      createKey: (workspace) => {
        oi('workspaces', 'create', workspace)
        oi('workspaces', 'set-limits', workspace, ...limits)
        return oi('keys', 'create', '--workspace', workspace)
      },
    })
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
