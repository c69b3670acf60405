/**
 * Chooses the files of a repository that make up the wanted model.
 *
 * Rules
 *   1. A hub's listing is untrusted text: a name that could lead out of the model's folder refuses
 *      the whole repository.
 *   2. If several models fit, none is guessed: the message lists them.
 *
 * @module
 */

import { OiError } from '../../errors.js'

export interface ListedFile {
  /** Inside the repository, with slashes. */
  readonly path: string
  readonly bytes: number | undefined
  /** 64 hex digits; undefined if the hub does not list it. */
  readonly sha256: string | undefined
}

interface ChosenFiles {
  /** Of a split model all parts, the first one first. */
  readonly model: readonly ListedFile[]
  readonly projector: ListedFile | undefined
}

const gguf = /\.gguf$/i
const projectorName = /mmproj/i
/** Files of data that a quantization was made with. */
const otherData = /imatrix/i
const part = /-(\d{5})-of-(\d{5})\.gguf$/i

/** The default: small, and close to the original. */
const usual = 'Q4_K_M'
/**
 * Preferred types of a projector, best first: it is small beside the model, and should be exact.
 */
const projectorTypes = ['f16', 'bf16', 'q8_0', 'f32']

/**
 * The name of a file in the model's folder.
 *
 * @throws {@link OiError} `ERR_PULL` if it is no safe name: rule 1.
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

/** Part number and count from a file's name; undefined if the file is no part. */
export function partOf(path: string): { number: number; count: number } | undefined {
  const [, number, count] = part.exec(path) ?? []
  return count === undefined ? undefined : { number: Number(number), count: Number(count) }
}

/** A model's name: its file's name without the ending and the part number. */
export function modelNameOf(fileName: string): string {
  return fileName.replace(part, '').replace(gguf, '')
}

/**
 * @param wanted - A quantization like `Q4_K_M`, or a path that ends in `.gguf`.
 * @param repository - For messages: `hf:owner/repository`.
 * @throws {@link OiError} `ERR_PULL`: rules 1 and 2, a missing part, no file that fits.
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

/** Groups the parts of each model, by path without the numbers. */
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

/** Matches the quantization as a word of the name; behind a `_` only if nothing else matches. */
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
  throw new OiError(
    'ERR_PULL',
    `${name} has ${count} parts, but the repository has ${model.length} of them`,
  )
}

function chooseProjector(projectors: readonly ListedFile[]): ListedFile | undefined {
  for (const type of projectorTypes) {
    const found = projectors.find(({ path }) => matching([modelNameOf(path)], type).length > 0)
    if (found !== undefined) return found
  }
  return projectors[0]
}
