/**
 * The plan of a pull: the files of a model, and its name.
 *
 * @module
 */

import { stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { OiError } from '../../errors.js'
import { kindOf } from '../../open-input.js'
import { defaultModelName } from '../default-model.js'
import { isModelName } from '../pulled-models.js'
import { chooseFiles, type ListedFile, modelNameOf, partOf, safeFileName } from './choose-files.js'
import type { RemoteFile } from './download.js'
import type { FetchOptions } from './fetch.js'
import { fileAddress, listRepository } from './hub.js'
import type { Patience } from './retry.js'
import { decodedPath, type Source, sourceText } from './source.js'

/** A file of this machine. */
export interface LocalFile {
  readonly name: string
  readonly path: string
  readonly bytes: number
  readonly sha256: string | undefined
  /** When it changed last. */
  readonly tag: string
}

type HubSource = Extract<Source, { kind: 'hub' }>

export interface Plan {
  readonly name: string
  readonly source: string
  /** The model's first; the projector, if there is one, last. */
  readonly files: readonly (RemoteFile | LocalFile)[]
  /** The projector's file; empty if there is none. */
  readonly projector: string
}

export interface PlanOptions extends FetchOptions, Patience {
  readonly hub: URL
  /** The model's name; undefined: by its file. */
  readonly name: string | undefined
  /** Of the only file; undefined if it is not known. */
  readonly sha256: string | undefined
  /** The projector; `'own'`: the repository's, if it has one. */
  readonly projector: Source | 'own' | 'none'
}

/** @throws {@link OiError} `ERR_CONFIG`, `ERR_PULL`. */
export async function planPull(source: Source, options: PlanOptions): Promise<Plan> {
  const { sha256, projector: wanted } = options
  const found = await filesOf(source, options)
  const model = withSha256(found.model, sha256)
  const given = typeof wanted === 'object' ? await projectorOf(wanted, options) : undefined
  const projector = given ?? (wanted === 'own' ? found.projector : undefined)
  if (projector && model.some(({ name }) => name === projector.name)) {
    throw new OiError(
      'ERR_CONFIG',
      `--mmproj: ${projector.name} is the name of the model's file too`,
    )
  }
  const files = projector ? [...model, projector] : model
  const fileName = files[0]!.name
  const name = options.name ?? modelNameOf(fileName)
  if (!isModelName(name)) {
    const rule = 'up to 100 letters, digits, dots, dashes and underscores, and no .gguf at the end'
    throw new OiError('ERR_CONFIG', `--name: expected ${rule}, got ${name}`)
  }
  if (name === defaultModelName) {
    const rule = `${name} is the model of this package: name it otherwise`
    throw new OiError('ERR_CONFIG', `--name: ${rule}`)
  }
  return { name, source: sourceText(source), files, projector: projector?.name ?? '' }
}

type PlannedFile = Plan['files'][number]

interface Found {
  readonly model: readonly PlannedFile[]
  /** The repository's projector. */
  readonly projector?: PlannedFile | undefined
}

function filesOf(source: Source, options: PlanOptions): Promise<Found> | Found {
  switch (source.kind) {
    case 'hub':
      return filesOfHub(source, options)
    case 'address':
      return filesOfAddress(source.url, options.name)
    case 'path':
      return filesOfPath(source.path)
  }
}

async function filesOfHub(source: HubSource, options: PlanOptions): Promise<Found> {
  const { commit, files } = await listRepository(source, options.hub, options)
  const text = sourceText({ ...source, wanted: undefined })
  const { model, projector } = chooseFiles(files, source.wanted, text)
  const remote = (file: ListedFile) => fileOfHub(source, commit, file, options.hub)
  return { model: model.map(remote), projector: projector && remote(projector) }
}

function fileOfHub(
  source: HubSource,
  commit: string,
  { path, bytes, sha256 }: ListedFile,
  hub: URL,
): RemoteFile {
  return { name: safeFileName(path), url: fileAddress(source, commit, path, hub), bytes, sha256 }
}

/** One file, whatever it is called. */
async function projectorOf(source: Source, options: PlanOptions): Promise<PlannedFile> {
  if (source.kind === 'path') return localFile(resolve(source.path))
  if (source.kind === 'address') {
    const given = decodedPath(source.url.pathname.split('/').at(-1)!)
    const name = /\.gguf$/i.test(given) ? safeFileName(given) : 'mmproj.gguf'
    return { name, url: source.url, bytes: undefined, sha256: undefined }
  }
  const { commit, files } = await listRepository(source, options.hub, options)
  const file = files.find(({ path }) => path === source.wanted)
  if (file !== undefined) return fileOfHub(source, commit, file, options.hub)
  const repository = sourceText({ ...source, wanted: undefined })
  const remedy = `name one of its files, as ${repository}:mmproj-F16.gguf`
  throw new OiError('ERR_PULL', `--mmproj: ${sourceText(source)} is no file; ${remedy}`)
}

/** Of a split model all parts, whichever was named. */
function filesOfAddress(url: URL, name: string | undefined): Found {
  const given = decodedPath(url.pathname.split('/').at(-1)!)
  const isNamed = /\.gguf$/i.test(given)
  if (!isNamed && name === undefined) {
    const remedy = 'its address does not end with .gguf: give the model a name with --name'
    throw new OiError('ERR_CONFIG', `source: ${remedy}`)
  }
  const fileName = isNamed ? safeFileName(given) : `${name}.gguf`
  const urlOf = (part: string) => {
    const other = new URL(url)
    other.pathname = url.pathname.replace(/[^/]*$/, encodeURIComponent(part))
    return other
  }
  const unknown = { bytes: undefined, sha256: undefined }
  const parts = partNames(fileName)
  const files =
    parts.length === 1
      ? [{ name: fileName, url, ...unknown }]
      : parts.map((part) => ({ name: part, url: urlOf(part), ...unknown }))
  return { model: files }
}

async function filesOfPath(path: string): Promise<Found> {
  const given = resolve(path)
  const names = partNames(safeFileName(basename(given)))
  return { model: await Promise.all(names.map((name) => localFile(join(dirname(given), name)))) }
}

async function localFile(path: string): Promise<LocalFile> {
  const stats = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') {
      throw new OiError('ERR_PULL', `${path} cannot be read: ${cause.message}`, { cause })
    }
    const remedy = 'a model of a hub is hf:owner/repository, another one https://…'
    throw new OiError('ERR_PULL', `There is no file ${path}; ${remedy}`, { cause })
  })
  const kind = kindOf(stats)
  if (kind !== undefined) throw new OiError('ERR_PULL', `${path} is ${kind}`)
  const { size: bytes, mtime } = stats
  return { name: basename(path), path, bytes, sha256: undefined, tag: mtime.toISOString() }
}

/** All parts of the model to which a file belongs. */
function partNames(fileName: string): string[] {
  const { number, count } = partOf(fileName) ?? { number: 1, count: 1 }
  if (number < 1 || number > count) {
    throw new OiError('ERR_PULL', `${fileName} says that it is part ${number} of ${count}`)
  }
  if (count === 1) return [fileName]
  return Array.from({ length: count }, (_, i) =>
    fileName.replace(/-\d{5}-of-/, `-${String(i + 1).padStart(5, '0')}-of-`),
  )
}

/** Checks the user's SHA-256 against the hub's; it is for models of one file. */
function withSha256(files: Found['model'], sha256: string | undefined): Found['model'] {
  if (sha256 === undefined) return files
  const [file, ...others] = files
  if (others.length > 0) {
    const names = files.map(({ name }) => name).join(', ')
    throw new OiError('ERR_CONFIG', `--sha256: expected a model of one file, got ${names}`)
  }
  if (file!.sha256 !== undefined && file!.sha256 !== sha256) {
    const fault = `the hub says ${file!.sha256}, --sha256 says ${sha256}`
    throw new OiError('ERR_PULL', `${file!.name}: ${fault}`)
  }
  return [{ ...file!, sha256 }]
}
