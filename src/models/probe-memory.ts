/**
 * Remembers in the user's cache folder which models a probe has loaded. A lost file costs a probe.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { mkdir, open, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { loadAddon } from '../engine/native.js'
import { packageVersion } from '../package-root.js'
import { userFolder } from '../user-folder.js'
import type { ProbeRequest } from './probe-protocol.js'

/** The data that can make llama.cpp abort is in a file's header. */
const headerBytes = 16 << 20

/** @returns Undefined if a file cannot be read, which the probe then reports. */
export async function probeKey(request: ProbeRequest): Promise<string | undefined> {
  const files = [request.modelPath, ...(request.projectorPath ? [request.projectorPath] : [])]
  try {
    const facts = await Promise.all(files.map(factsOf))
    const build = [packageVersion(), loadAddon().llamaCommit, process.arch]
    const text = JSON.stringify([build, facts, { ...request, modelPath: '', projectorPath: '' }])
    return createHash('sha256').update(text).digest('hex')
  } catch {
    return undefined
  }
}

async function factsOf(path: string): Promise<readonly string[]> {
  const file = await open(path)
  try {
    const { size, mtimeNs, ctimeNs } = await file.stat({ bigint: true })
    const bytes = Buffer.alloc(Math.min(headerBytes, Number(size)))
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
    const digest = createHash('sha256').update(bytes.subarray(0, bytesRead)).digest('hex')
    return [resolve(path), String(size), String(mtimeNs), String(ctimeNs), digest]
  } finally {
    await file.close()
  }
}

export async function recall(key: string): Promise<boolean> {
  const path = pathOf(key)
  if (path === undefined) return false
  return stat(path).then(
    () => true,
    () => false,
  )
}

export async function remember(key: string, model: string): Promise<void> {
  const path = pathOf(key)
  if (path === undefined) return
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(path, `${model}\n`)
  } catch {
    // A full or read-only disk: the next start probes again.
  }
}

/** @returns Undefined for a user without a home. */
function pathOf(key: string): string | undefined {
  const cache = userFolder('XDG_CACHE_HOME', '.cache')
  return cache && join(cache, 'oi-systemone', 'loaded', key)
}
