/**
 * Remembers in the user's cache folder which models have been loaded and asked without ending their
 * process. A lost file costs another try.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { mkdir, open, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { EngineOptions } from '../engine/engine.js'
import { loadAddon } from '../engine/native.js'
import { packageVersion } from '../package-root.js'
import { userFolder } from '../user-folder.js'
import { defaultModelPath } from './default-model.js'

/** The options that decide whether a model can be loaded and asked. */
const optionNames = [
  ...(['modelPath', 'projectorPath', 'contextTokens', 'maxForks', 'batchTokens'] as const),
  ...(['microbatchTokens', 'threads', 'device', 'split', 'tensorSplit', 'gpuLayers'] as const),
  ...(['cpuExperts', 'mmap', 'flashAttention', 'cacheType', 'kernels'] as const),
  'deterministic',
] as const

/** The options that the model will be opened with. */
export type TriedOptions = Pick<EngineOptions, (typeof optionNames)[number]>

export function triedOptions(options: EngineOptions): TriedOptions {
  const entries = optionNames.map((name) => [name, options[name]])
  return Object.fromEntries(entries) as TriedOptions
}

/** Models that this process has tried, in case the cache folder cannot be written. */
const known = new Set<string>()

/**
 * Tries a model unless it is known to work. Successes are remembered by the file's header, size and
 * time, so that the next start costs nothing. The model of this package is known to work.
 *
 * @param attempt - Resolves to whether it worked; false also if it could not be tried.
 * @throws As `attempt`.
 */
export async function tryOnce(
  options: TriedOptions,
  attempt: () => Promise<boolean>,
): Promise<void> {
  if (options.modelPath === defaultModelPath && !options.projectorPath) return
  const key = await keyOf(options)
  if (key !== undefined && (known.has(key) || (await recall(key)))) return
  if (!(await attempt()) || key === undefined) return
  known.add(key)
  await remember(key, options.modelPath)
}

/** The data that can make llama.cpp abort is in a file's header. */
const headerBytes = 16 << 20

/** @returns Undefined if a file cannot be read, which trying it then reports. */
async function keyOf(options: TriedOptions): Promise<string | undefined> {
  const files = [options.modelPath, ...(options.projectorPath ? [options.projectorPath] : [])]
  try {
    const facts = await Promise.all(files.map(factsOf))
    const build = [packageVersion(), loadAddon().llamaCommit, process.arch]
    const text = JSON.stringify([build, facts, { ...options, modelPath: '', projectorPath: '' }])
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

async function recall(key: string): Promise<boolean> {
  const path = pathOf(key)
  return path !== undefined && (await stat(path).catch(() => undefined)) !== undefined
}

async function remember(key: string, model: string): Promise<void> {
  const path = pathOf(key)
  if (path === undefined) return
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(path, `${model}\n`)
  } catch {
    // A full or read-only disk: the next start tries again.
  }
}

/** @returns Undefined for a user without a home. */
function pathOf(key: string): string | undefined {
  const cache = userFolder('XDG_CACHE_HOME', '.cache')
  return cache && join(cache, 'oi-systemone', 'loaded', key)
}
