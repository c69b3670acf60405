/**
 * The files that a model is opened from, as they look from outside.
 *
 * The system calls here hold no event loop: those of a network mount may hang.
 *
 * @module
 */

import { stat } from 'node:fs/promises'

export interface ModelFiles {
  /** Of a split model, the first part. */
  readonly file: string
  /** The projector; empty if there is none. */
  readonly mmproj: string
}

/** What the files were at a look. */
export interface FilesSeen {
  /** Equal texts: the same files, with the same content, as far as size and time tell. */
  readonly content: string
  /** Equal texts: the same files, whatever was written into them. */
  readonly files: string
  /** The first one that is not there. */
  readonly missing: string | undefined
}

/** Never rejects. */
export async function lookAtFiles(model: ModelFiles): Promise<FilesSeen> {
  const content: string[] = []
  const files: string[] = []
  let missing: string | undefined
  for (const path of pathsOf(model)) {
    const found = await stat(path, { bigint: true }).catch(() => undefined)
    if (found === undefined) missing ??= path
    const file = found === undefined ? '' : `${found.dev}:${found.ino}`
    files.push(file)
    content.push(found === undefined ? '' : `${file}:${found.size}:${found.mtimeNs}`)
  }
  return { content: content.join(' '), files: files.join(' '), missing }
}

/** The name of a split model's first part. */
const firstPart = /-00001-of-(\d{5})\.gguf$/
/** More than any model has: a name is no reason for a hundred thousand calls. */
const mostParts = 1000

function pathsOf({ file, mmproj }: ModelFiles): readonly string[] {
  const parts = Math.min(mostParts, Number(firstPart.exec(file)?.[1] ?? 1))
  const others = Array.from({ length: Math.max(0, parts - 1) }, (_, i) =>
    file.replace(/-00001(?=-of-\d{5}\.gguf$)/, `-${String(i + 2).padStart(5, '0')}`),
  )
  return [file, ...others, ...(mmproj === '' ? [] : [mmproj])]
}
