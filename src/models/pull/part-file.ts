/**
 * A file that is being fetched, `NAME.part`, and beside it `NAME.part.json`, which says what of it
 * is there: a pull that was cut goes on from it.
 *
 * What the second one says is on the disk before it is said, so that a machine that loses its power
 * loses no more than the last second.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { arrayOf, countOf, type Fields, objectOf, textOf } from '../json-fields.js'
import { writeWholeFile } from '../whole-file.js'
import { Ranges, type Span } from './ranges.js'

/** Which bytes are meant: those of another version never fit. */
export interface Version {
  /** 64 hex digits; empty if it is not known. */
  readonly sha256: string
  /** Where it comes from. */
  readonly source: string
  /** An ETag or a time of change; empty if there is none. */
  readonly tag: string
  readonly bytes: number
}

/** Whether what is there of one can be completed from the other. */
export function isSameVersion(one: Version, other: Version): boolean {
  if (one.bytes !== other.bytes) return false
  if (one.sha256 !== '' && other.sha256 !== '') return one.sha256 === other.sha256
  return one.source === other.source && one.tag === other.tag && one.tag !== ''
}

const saveMs = 1000

export class PartFile {
  readonly version: Version
  /** What is written, whether it is said already or not. */
  readonly there: Ranges
  readonly #path: string
  readonly #file: FileHandle
  readonly #timer: NodeJS.Timeout
  #saving: Promise<void> | undefined
  #isSaid = true

  /** Goes on from what is there, if it is of the same version; else begins anew. */
  static async open(path: string, version: Version): Promise<PartFile> {
    const state = readState(path)
    const goesOn = state !== undefined && isSameVersion(state.version, version)
    const file = await open(path, goesOn ? 'r+' : 'w+')
    try {
      const { size } = await file.stat()
      const there = new Ranges(goesOn && size === version.bytes ? state.spans : [])
      await file.truncate(version.bytes)
      return new PartFile(path, file, version, there)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  private constructor(path: string, file: FileHandle, version: Version, there: Ranges) {
    this.#path = path
    this.#file = file
    this.version = version
    this.there = there
    // What the disk refuses is told by the last one, which is waited for.
    this.#timer = setInterval(() => {
      if (!this.#isSaid) this.save().catch(() => {})
    }, saveMs)
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await this.#file.write(bytes, done, bytes.length - done, at + done)
      done += bytesWritten
    }
    this.there.add(at, at + bytes.length)
    this.#isSaid = false
  }

  /** Says what is there. */
  async save(): Promise<void> {
    const before = this.#saving
    this.#saving = (async () => {
      await before?.catch(() => {})
      this.#isSaid = true
      const spans = this.there.spans
      await this.#file.datasync()
      const { version } = this
      await writeWholeFile(statePath(this.#path), `${JSON.stringify({ version, spans })}\n`)
    })()
    await this.#saving
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#saving?.catch(() => {})
    await this.#file.close()
  }

  /** Leaves nothing of it. It must be closed. */
  async discard(): Promise<void> {
    await rm(this.#path, { force: true })
    await rm(statePath(this.#path), { force: true })
  }

  /** Gives the file its name, once it is whole and closed, and says what it is. */
  async finish(path: string, sha256: string): Promise<void> {
    await finishFile(this.#path, path, { version: this.version, sha256 })
    await rm(statePath(this.#path), { force: true })
  }
}

/** What is said beside a file that is whole, `NAME.json`, until all files of its model are. */
interface Finished {
  readonly version: Version
  readonly sha256: string
}

/** Has a file that is whole on the disk, and then gives it its name. */
export async function finishFile(from: string, path: string, finished: Finished): Promise<void> {
  await syncPath(from)
  await writeWholeFile(statePath(path), `${JSON.stringify(finished)}\n`)
  await rename(from, path)
  await syncPath(dirname(path))
}

/** The SHA-256 of a file that an earlier pull has finished; undefined if there is none of this version. */
export function finishedSha256(path: string, version: Version): string | undefined {
  try {
    const fields = objectOf(JSON.parse(readFileSync(statePath(path), 'utf8')))
    const isSame = isSameVersion(versionIn(fields), version)
    const isThere = statSync(path).size === version.bytes
    return isSame && isThere ? textOf(fields, 'sha256') : undefined
  } catch {
    return undefined
  }
}

/** Has the system write to the disk what it holds of a file or a folder. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } catch (error) {
    // Some systems cannot do it for a folder.
    if (!['EISDIR', 'EINVAL', 'EPERM'].includes((error as NodeJS.ErrnoException).code!)) throw error
  } finally {
    await file.close()
  }
}

/**
 * @param onBytes - Told of each piece that has been read.
 * @returns 64 hex digits.
 */
export async function sha256Of(
  path: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<string> {
  const hash = createHash('sha256')
  const options = { highWaterMark: 4 << 20, ...(signal && { signal }) }
  for await (const piece of createReadStream(path, options)) {
    hash.update(piece as Buffer)
    onBytes((piece as Buffer).length)
  }
  return hash.digest('hex')
}

const statePath = (path: string) => join(dirname(path), `${basename(path)}.json`)

/** @returns Undefined if there is none that can be read. */
function readState(path: string): { version: Version; spans: Span[] } | undefined {
  try {
    const fields = objectOf(JSON.parse(readFileSync(statePath(path), 'utf8')))
    return {
      version: versionIn(fields),
      spans: arrayOf(fields, 'spans').map((span) => {
        const [from, to] = span as number[]
        if (!Number.isSafeInteger(from) || !Number.isSafeInteger(to)) throw new TypeError('spans')
        return [from!, to!]
      }),
    }
  } catch {
    return undefined
  }
}

function versionIn(fields: Fields): Version {
  const version = objectOf(fields['version'])
  return {
    sha256: textOf(version, 'sha256'),
    source: textOf(version, 'source'),
    tag: textOf(version, 'tag'),
    bytes: countOf(version, 'bytes'),
  }
}
