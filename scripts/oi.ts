/**
 * The command `oi` of this tree on a data folder, and the server that it starts.
 *
 * @module
 */

import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Child } from './bench/child.js'

export const command = fileURLToPath(new URL('../src/cli/main.js', import.meta.url))

/** Runs a command to its end. @returns Its output. */
export function oi(dataDir: string, ...args: string[]): string {
  return execFileSync(process.execPath, [command, ...args, '--data-dir', dataDir], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
}

/** Removes the limits of a workspace's requests. */
export function unlimit(dataDir: string, workspace: string): void {
  const none = ['--requests-per-minute', '0', '--concurrent', '0']
  oi(dataDir, 'workspaces', 'set-limits', workspace, ...none)
}

/** Makes a workspace without limits of requests. @returns One of its keys. */
export function createWorkspace(dataDir: string, name: string): string {
  oi(dataDir, 'workspaces', 'create', name)
  unlimit(dataDir, name)
  return oi(dataDir, 'keys', 'create', '--workspace', name)
}

export interface Started {
  readonly child: Child
  readonly port: number
}

/** Starts the server on a free port. @returns When it is ready. @param flags - Of `oi serve`. */
export async function startServer(dataDir: string, flags: readonly string[]): Promise<Started> {
  const args = [command, 'serve', '--port', '0', '--data-dir', dataDir, ...flags]
  const child = new Child(process.execPath, args)
  try {
    const [, port] = await child.match(/Listening on http:\/\/[^\s:]+:(\d+)/)
    await child.match(/^Ready$/m)
    return { child, port: Number(port) }
  } catch (error) {
    await child.stop()
    throw error
  }
}
