/**
 * Which files of a repository make up the model that is meant.
 *
 * Rules
 *   1. What a hub lists is a stranger's text: a name that could lead out of the model's folder
 *      refuses the whole repository.
 *   2. Where several models would do, none is guessed: the message lists them.
 *
 * @module
 */

import { OiError } from '../../errors.js'

export interface ListedFile {
  /** Inside the repository, with slashes. */
  readonly path: string
  readonly bytes: number | undefined
  /** 64 hex digits; undefined if the hub does not tell it. */
  readonly sha256: string | undefined
}

export interface ChosenFiles {
  /** Of a split model all parts, the first one first. */
  readonly model: readonly ListedFile[]
  readonly projector: ListedFile | undefined
}

const gguf = /\.gguf$/i
const projectorName = /mmproj/i
/** Data with which a quantization was made. */
const otherData = /imatrix/i
const part = /-(\d{5})-of-(\d{5})\.gguf$/i

/** Taken if nothing is said: small, and close to the original. */
const usual = 'Q4_K_M'
/** Of several projectors, the first of these: it is small beside the model, and should be exact. */
const projectorTypes = ['f16', 'bf16', 'q8_0', 'f32']

/**
 * The name of a file in the model's folder.
 *
 * @throws {@link OiError} `ERR_PULL` if a file cannot be called so: rule 1.
 */
export function safeFileName(path: string): string {
  const segments = path.split('/')
  const name = segments.at(-1)!
  const isOdd =
    segments.some((segment) => ['', '.', '..'].includes(segment)) ||
    /[\\:\u0000-\u001f\u007f]/.test(path) ||
    name.startsWith('.') ||
    Buffer.byteLength(name) > 200
  if (!isOdd) return name
  throw new OiError('ERR_PULL', `${JSON.stringify(path.slice(0, 200))} is no name for a file`)
}

/** The number of a part and of all, from a file's name; undefined if it is whole. */
export function partOf(path: string): { number: number; count: number } | undefined {
  const [, number, count] = part.exec(path) ?? []
  return count === undefined ? undefined : { number: Number(number), count: Number(count) }
}

/** What a model is called: its file's name without ending, and without the number of a part. */
export function modelNameOf(fileName: string): string {
  return fileName.replace(part, '').replace(gguf, '')
}

/**
 * @param wanted - A quantization like `Q4_K_M`, or a path that ends in `.gguf`.
 * @param repository - For messages: `hf:owner/repository`.
 * @throws {@link OiError} `ERR_PULL`: rules 1 and 2, a part that is missing, nothing that fits.
 */
export function chooseFiles(
  listed: readonly ListedFile[],
  wanted: string | undefined,
  repository: string,
): ChosenFiles {
  const files = listed.filter(({ path }) => gguf.test(path))
  for (const { path } of files) safeFileName(path)
  const isProjector = ({ path }: ListedFile) => projectorName.test(safeFileName(path))
  const models = groupsOf(
    files.filter((file) => !isProjector(file) && !otherData.test(safeFileName(file.path))),
  )
  if (models.size === 0) {
    throw new OiError('ERR_PULL', `${repository} has no GGUF file of a model`)
  }
  const name = chooseName([...models.keys()], wanted, repository)
  const model = models.get(name)!.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  requireAllParts(model, name)
  return { model, projector: chooseProjector(files.filter(isProjector)) }
}

/** Parts of the same model together, by their path without the numbers. */
function groupsOf(files: readonly ListedFile[]): Map<string, ListedFile[]> {
  const groups = new Map<string, ListedFile[]>()
  for (const file of files) {
    const name = modelNameOf(file.path)
    groups.set(name, [...(groups.get(name) ?? []), file])
  }
  return groups
}

function chooseName(
  names: readonly string[],
  wanted: string | undefined,
  repository: string,
): string {
  const asked = wanted ?? usual
  if (wanted === undefined && names.length === 1) return names[0]!
  const found = gguf.test(asked)
    ? names.filter((name) => name === modelNameOf(asked))
    : matching(names, asked)
  if (found.length === 1) return found[0]!
  const list = (found.length > 1 ? found : names).toSorted().map((name) => `\n- ${name}.gguf`)
  const remedy = `name one of them, as ${repository}:Q8_0 or ${repository}:FILE.gguf`
  const fault =
    found.length > 1
      ? `has ${found.length} models ${asked}`
      : wanted === undefined
        ? 'has several models'
        : `has no model ${asked}`
  throw new OiError('ERR_PULL', `${repository} ${fault}; ${remedy}:${list.join('')}`)
}

/** As a word of the name; behind a `_` only if there is none else. */
function matching(names: readonly string[], quantization: string): readonly string[] {
  const word = quantization.replaceAll(/[^A-Za-z0-9_]/g, String.raw`\$&`)
  const find = (before: string) => {
    const pattern = new RegExp(`(?:^|[${before}])${word}(?:$|[-./])`, 'i')
    return names.filter((name) => pattern.test(name))
  }
  const strict = find('-./')
  return strict.length > 0 ? strict : find('-./_')
}

function requireAllParts(model: readonly ListedFile[], name: string): void {
  const parts = model.map(({ path }) => partOf(path))
  const count = parts[0]?.count ?? 1
  const isWhole =
    model.length === count &&
    parts.every((found, i) => (found === undefined ? count === 1 : found.number === i + 1))
  if (isWhole) return
  throw new OiError('ERR_PULL', `Of ${name}, ${model.length} files of ${count} parts are there`)
}

function chooseProjector(projectors: readonly ListedFile[]): ListedFile | undefined {
  for (const type of projectorTypes) {
    const found = projectors.find(({ path }) => matching([modelNameOf(path)], type).length > 0)
    if (found !== undefined) return found
  }
  return projectors[0]
}
