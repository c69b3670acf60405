/**
 * `oi serve` as a user starts it, on an empty data folder and a free port; workspaces have no
 * limits, because the server is measured.
 *
 * @module
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWorkspace, startServer, unlimit } from '../oi.js'
import type { ModelFile } from './model-file.js'

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
  const model = ['--model', path, '--threads', String(threads), '--kernels', kernels]
  try {
    const { child: started, port } = await startServer(dataDir, [...model, ...settings])
    await using child = started
    const [key] = await child.match(/oi-[\w-]{43}/)
    unlimit(dataDir, 'default')
    const createKey = (workspace: string) => createWorkspace(dataDir, workspace)
    return await use({ port, key, pid: child.pid!, createKey })
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}
