/**
 * Fetches a model, checks it, and gives it its name.
 *
 * Rules
 *   1. A pull works in a folder of its own, `.pull/NAME`. One rename makes it the model's folder
 *      when it is complete and checked: no name leads to a part of a model.
 *   2. Fetched bytes stay until the model is complete or removed with `oi models rm`: an
 *      interrupted pull resumes where it was.
 *   3. One process at a time holds the lock on a model's name.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readGgufHeader } from '../../engine/gguf-header.js'
import { OiError } from '../../errors.js'
import { makeFolder } from '../../make-folder.js'
import {
  descriptionFile,
  describePulled,
  findPulled,
  type PulledFile,
  type PulledModel,
  unfinishedFolder,
} from '../pulled-models.js'
import { quantizationOf } from '../quantization.js'
import { shellArgument, sizeText } from '../../api/words.js'
import { copyLocal } from './copy.js'
import { download, type DownloadOptions, versionOf } from './download.js'
import { withLock } from './lock.js'
import { syncPath } from './part-file.js'
import { type Plan, planPull, type PlanOptions } from './plan.js'
import { readSource } from './source.js'

export interface PullProgress {
  /** Of all files whose size is known, bytes. */
  readonly totalBytes: number
  /** Bytes of them on the disk. */
  readonly thereBytes: number
  /** Bytes that this pull has fetched. */
  readonly fetchedBytes: number
  /** Bytes that have been read again to be checked. */
  readonly checkedBytes: number
}

export interface PullOptions extends Omit<PlanOptions, 'answered'> {
  /** The folder of the models. */
  readonly modelsDir: string
  /** Ranges of a file that are fetched at the same time, at least 1. */
  readonly connections: number
  /** The longest range of one request, bytes. */
  readonly pieceBytes: number
  readonly onProgress: (name: string, progress: PullProgress) => void
  /** Refuses to replace an existing model that is in use. */
  readonly requireUnused: (name: string) => Promise<void>
  /** Makes sure that a file is a model that can answer. @throws The error to report. */
  readonly check: (file: string, projector: string) => Promise<void>
  /** Free bytes of the disk. Default: asks the system. */
  readonly freeBytes?: (folder: string) => Promise<number>
}

/** Of one pull. */
type Pull = PullOptions & Pick<PlanOptions, 'answered'>

export interface Pulled {
  readonly model: PulledModel
  /** Whether the same version existed already. */
  readonly unchanged: boolean
}

/** Said while a pulled model is tried. */
export const checkingText = 'Loading it once, to check that it answers'

/** Space that stays free on the disk. */
const spareBytes = 64 << 20

/**
 * @param text - `hf:owner/repository[:QUANTIZATION]`, an address, or a path.
 * @throws {@link OiError} `ERR_CONFIG` if an option is wrong, `ERR_PULL` if the model cannot be
 *   fetched, `ERR_ABORTED`; what `check` and `requireUnused` throw.
 */
export async function pullModel(text: string, given: PullOptions): Promise<Pulled> {
  const options: Pull = { ...given, answered: new Set() }
  const plan = await planPull(readSource(text, options.hub), options)
  const { name } = plan
  const unfinished = join(options.modelsDir, unfinishedFolder)
  await makeFolders(options.modelsDir, unfinished)
  return withLock(unfinished, name, async (lost) => {
    const signal = options.signal ? AbortSignal.any([options.signal, lost]) : lost
    const own = { ...options, signal }
    const folder = join(unfinished, name)
    if (existsSync(join(folder, descriptionFile))) await takeName(folder, options.modelsDir, name)
    const there = findPulled(options.modelsDir, name)
    if (there !== undefined) {
      requireSameSource(there, plan)
      if (await isUnchanged(there, plan, own)) return { model: there, unchanged: true }
      await options.requireUnused(name)
    }
    await mkdir(folder, { recursive: true })
    await removeOthers(folder, plan)
    const files = await fetchAll(plan, folder, own)
    const main = join(folder, files[0]!.name)
    const projector = plan.projector === '' ? '' : join(folder, plan.projector)
    await check(name, () => options.check(main, projector))
    const model: PulledModel = {
      name,
      source: plan.source,
      pulledMs: Date.now(),
      quantization: quantizationOf(await readGgufHeader(main)),
      model: files[0]!.name,
      projector: plan.projector,
      files,
    }
    await giveName(model, folder, options.modelsDir)
    return { model, unchanged: false }
  })
}

/** The data folder is private to its owner; a folder of models elsewhere may be shared. */
async function makeFolders(modelsDir: string, unfinished: string): Promise<void> {
  makeFolder(dirname(modelsDir))
  await mkdir(unfinished, { recursive: true })
}

function requireSameSource(there: PulledModel, { name, source }: Plan): void {
  if (there.source === source) return
  throw new OiError(
    'ERR_PULL',
    `${name} is there already, from ${there.source}: pull this one under another name (--name), ` +
      `or remove that one first (oi models rm ${shellArgument(name)})`,
  )
}

/** Whether the source still has the pulled version. */
async function isUnchanged(there: PulledModel, plan: Plan, options: Pull): Promise<boolean> {
  if (there.files.length !== plan.files.length) return false
  for (const file of plan.files) {
    const own = there.files.find(({ name }) => name === file.name)
    if (own === undefined || (file.bytes !== undefined && file.bytes !== own.bytes)) return false
    if (file.sha256 !== undefined) {
      if (file.sha256 !== own.sha256) return false
      continue
    }
    const version = 'url' in file ? await versionOf(file, options) : file
    if (version === undefined || version.bytes !== own.bytes) return false
    if (version.tag === '' || version.tag !== own.version) return false
  }
  return true
}

/** Removes the remains of a pull of other files under the same name. */
async function removeOthers(folder: string, { files }: Plan): Promise<void> {
  const endings = ['', '.json', '.part', '.part.json']
  const known = files.flatMap(({ name }) => endings.map((ending) => name + ending))
  for (const name of await readdir(folder)) {
    if (!known.includes(name)) await rm(join(folder, name), { recursive: true })
  }
}

async function fetchAll(plan: Plan, folder: string, options: Pull): Promise<PulledFile[]> {
  const known = plan.files.map(({ bytes = 0 }) => bytes)
  const counts = { thereBytes: 0, fetchedBytes: 0, checkedBytes: 0 }
  const totalBytes = known.reduce((sum, bytes) => sum + bytes, 0)
  const tell = () => options.onProgress(plan.name, { totalBytes, ...counts })
  const fetched: PulledFile[] = []
  for (const [i, file] of plan.files.entries()) {
    const later = known.slice(i + 1).reduce((sum, bytes) => sum + bytes, 0)
    const own: DownloadOptions = {
      ...options,
      onResume: (bytes) => {
        counts.thereBytes += bytes
        tell()
      },
      onBytes: (change) => {
        counts.thereBytes += change
        counts.fetchedBytes += Math.max(0, change)
        tell()
      },
      onChecked: (bytes) => {
        counts.checkedBytes += bytes
        tell()
      },
      requireRoom: (bytes) => requireRoom(bytes + later, folder, options),
    }
    fetched.push(
      'url' in file ? await download(file, folder, own) : await copyLocal(file, folder, own),
    )
  }
  return fetched
}

async function requireRoom(
  bytes: number,
  folder: string,
  { freeBytes = freeBytesIn }: PullOptions,
): Promise<void> {
  const free = await freeBytes(folder)
  if (bytes === 0 || bytes + spareBytes <= free) return
  const need = `${sizeText(bytes)} are still to fetch`
  throw new OiError('ERR_PULL', `${need}, and ${folder} has room for ${sizeText(free)}`)
}

/** Bytes that the disk of a folder has room for. */
export async function freeBytesIn(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** A refused model stays, as another version of this program may accept it. */
async function check(name: string, attempt: () => Promise<void>): Promise<void> {
  try {
    await attempt()
  } catch (error) {
    if (!(error instanceof OiError)) throw error
    const hint = `What its source sent is here, and stays until oi models rm ${shellArgument(name)}`
    throw new OiError(error.code, `${error.message}\n${hint}`, { cause: error })
  }
}

/** Rule 1. */
async function giveName(model: PulledModel, folder: string, modelsDir: string): Promise<void> {
  const names = model.files.map(({ name }) => name)
  for (const name of await readdir(folder)) {
    if (!names.includes(name)) await rm(join(folder, name), { recursive: true })
  }
  const description = join(folder, descriptionFile)
  await writeFile(description, describePulled(model))
  await syncPath(description)
  await syncPath(folder)
  await takeName(folder, modelsDir, model.name)
}

/**
 * An existing model of this name is moved away first, and removed afterwards. If a pull was
 * interrupted between the two, the next pull finishes it: a folder with a description is complete.
 */
async function takeName(folder: string, modelsDir: string, name: string): Promise<void> {
  const path = join(modelsDir, name)
  const replaced = `${folder}.replaced`
  await rm(replaced, { recursive: true, force: true })
  await rename(path, replaced).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  await rename(folder, path)
  await syncPath(modelsDir)
  await rm(replaced, { recursive: true, force: true })
}
