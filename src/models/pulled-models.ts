/**
 * Models that `oi models pull` has fetched, each in a folder of its name:
 *
 *     data/models/NAME/model.json     its description and source
 *     data/models/NAME/*.gguf         its files, named as at their source
 *     data/models/.pull/NAME/         an unfinished pull, running or interrupted
 *
 * A folder gets its name when all of its files are complete: a model with a name can be opened.
 *
 * @module
 */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import Type from 'typebox'
import { shellArgument } from '../api/words.js'
import { defaultNames } from '../decide/model-names.js'
import { OiError } from '../errors.js'
import { defaultModelName, defaultModelPath } from './default-model.js'
import { count, readFields } from './json-fields.js'

const FileSchema = Type.Object({
  name: Type.String(),
  bytes: count,
  /** 64 hex digits. */
  sha256: Type.String(),
  /** The source's tag of this version: an ETag or a time. Empty if it has none. */
  version: Type.String(),
})
export type PulledFile = Readonly<Type.Static<typeof FileSchema>>

/** The content of `model.json`. */
const DescriptionSchema = Type.Object({
  /** The source as given to `oi models pull`, without the secret parts of an address. */
  source: Type.String(),
  /** ms since 1970. */
  pulledMs: count,
  /** As `Q4_K_M`; empty if the file has none. */
  quantization: Type.String(),
  /** The file to open: of a split model, the first part. */
  model: Type.String(),
  /** The projector's file; empty if there is none. */
  projector: Type.String(),
  files: Type.Array(FileSchema),
})
export type PulledModel = Readonly<Type.Static<typeof DescriptionSchema>> & {
  readonly name: string
}

/** The folder of unfinished pulls, in the folder of models. */
export const unfinishedFolder = '.pull'
export const descriptionFile = 'model.json'

const namePattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?$/

/** Whether a pulled model can have this name: it is neither a path nor the name of a GGUF file. */
export function isModelName(text: string): boolean {
  return namePattern.test(text) && !/\.gguf$/i.test(text) && !defaultNames.includes(text)
}

/** The files that a model is opened from. */
export interface ModelFiles {
  /** A path. */
  readonly file: string
  /** A path; undefined if there is none, or none is known. */
  readonly projector: string | undefined
  /** The name of a pulled model; undefined for a file. */
  readonly name: string | undefined
}

/**
 * Resolves a model that a user named: a file or, if there is none, the pulled model of that name, or
 * the package's.
 *
 * @returns The text as a path if nothing is found: opening it reports the error.
 * @throws {@link OiError} `ERR_MODEL_LOAD` if the model's description is damaged.
 */
export function resolveModel(text: string, modelsDir: string): ModelFiles {
  const pulled = isModelName(text) && !isFile(text) ? findPulled(modelsDir, text) : undefined
  if (pulled === undefined) {
    // A pull may not take this name, but one of an earlier version has it.
    const file = text === defaultModelName && !isFile(text) ? defaultModelPath : text
    return { file, projector: undefined, name: undefined }
  }
  const pathOf = (file: string) => resolve(modelsDir, pulled.name, file)
  return {
    file: pathOf(pulled.model),
    projector: pulled.projector === '' ? undefined : pathOf(pulled.projector),
    name: pulled.name,
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}

/**
 * @returns Undefined if there is no model of this name.
 * @throws {@link OiError} `ERR_MODEL_LOAD` if its description is damaged.
 */
export function findPulled(modelsDir: string, name: string): PulledModel | undefined {
  const path = join(modelsDir, name, descriptionFile)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new OiError('ERR_MODEL_LOAD', `${path}: ${message}`, { cause })
  }
  try {
    return { name, ...readFields(DescriptionSchema, text) }
  } catch (cause) {
    const remedy = `oi models rm ${shellArgument(name)}, and pull it again`
    throw new OiError('ERR_MODEL_LOAD', `${path} is damaged: ${remedy}`, { cause })
  }
}

/** By name. @throws As {@link findPulled}; the system's error if the folder cannot be read. */
export function listPulled(modelsDir: string): readonly PulledModel[] {
  return foldersIn(modelsDir).flatMap((name) => findPulled(modelsDir, name) ?? [])
}

/** An unfinished pull, running or interrupted. */
interface UnfinishedPull {
  readonly name: string
  /** Its size on the disk. */
  readonly bytes: number
}

/** By name. */
export function listUnfinished(modelsDir: string): readonly UnfinishedPull[] {
  const folder = join(modelsDir, unfinishedFolder)
  return foldersIn(folder).map((name) => ({ name, bytes: bytesIn(join(folder, name)) }))
}

/** Size of a folder's files on the disk. */
export function bytesIn(folder: string): number {
  const sizes = readdirSync(folder).map((file) => {
    const stats = statSync(join(folder, file), { throwIfNoEntry: false })
    // A part has its full length from the start, but blocks only where it was written.
    return stats === undefined ? 0 : Math.min(stats.size, stats.blocks * 512)
  })
  return sizes.reduce((sum, bytes) => sum + bytes, 0)
}

function foldersIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries
      .filter((entry) => entry.isDirectory() && isModelName(entry.name))
      .map(({ name }) => name)
      .sort()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

export function describePulled({ name: _, ...description }: PulledModel): string {
  return `${JSON.stringify(description, null, 2)}\n`
}
