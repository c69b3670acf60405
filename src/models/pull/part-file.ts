/**
 * A file that is being fetched, `NAME.part`, and beside it `NAME.part.json`, which lists its
 * complete ranges: an interrupted pull resumes from them.
 *
 * Ranges are flushed to the disk before the list names them, so that a power failure costs no more
 * than the last second.
 *
 * @module
 */

import { readFileSync, statSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import Type from 'typebox'
import { count, readFields } from '../json-fields.js'
import { writeWholeFile } from '../whole-file.js'
import { Ranges } from './ranges.js'

/** A version of a file: bytes of another version never fit. */
const VersionSchema = Type.Object({
  /** 64 hex digits; empty if it is not known. */
  sha256: Type.String(),
  /** Where it comes from. */
  source: Type.String(),
  /** An ETag or a time of change; empty if there is none. */
  tag: Type.String(),
  bytes: count,
})
export type Version = Readonly<Type.Static<typeof VersionSchema>>

const UnfinishedSchema = Type.Object({
  version: VersionSchema,
  spans: Type.Array(Type.Tuple([count, count])),
})

/** Content of `NAME.json` beside a complete file, until all files of its model are complete. */
const FinishedSchema = Type.Object({ version: VersionSchema, sha256: Type.String() })
type Finished = Type.Static<typeof FinishedSchema>

/** Whether ranges of the one can be completed from the other. */
function isSameVersion(one: Version, other: Version): boolean {
  if (one.bytes !== other.bytes) return false
  if (one.sha256 !== '' && other.sha256 !== '') return one.sha256 === other.sha256
  return one.source === other.source && one.tag === other.tag && one.tag !== ''
}

const saveMs = 1000

export class PartFile {
  readonly version: Version
  /** The ranges that are written, in the list or not. */
  readonly there: Ranges
  readonly #path: string
  readonly #file: FileHandle
  readonly #timer: NodeJS.Timeout
  #saving: Promise<void> | undefined
  #isSaid = true

  /** Resumes if the file is of the same version; else starts over. */
  static async open(path: string, version: Version): Promise<PartFile> {
    const state = readState(UnfinishedSchema, path)
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
    // The last save, which is awaited, reports errors of the disk.
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

  /** Writes the list of ranges. */
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

  /** Removes the file and its list. It must be closed. */
  async discard(): Promise<void> {
    await rm(this.#path, { force: true })
    await rm(statePath(this.#path), { force: true })
  }

  /** Gives the complete, closed file its name, and records its version. */
  async finish(path: string, sha256: string): Promise<void> {
    await finishFile(this.#path, path, { version: this.version, sha256 })
    await rm(statePath(this.#path), { force: true })
  }
}

/** Flushes a complete file to the disk, then gives it its name. */
export async function finishFile(from: string, path: string, finished: Finished): Promise<void> {
  await syncPath(from)
  await writeWholeFile(statePath(path), `${JSON.stringify(finished)}\n`)
  await rename(from, path)
  await syncPath(dirname(path))
}

/**
 * The SHA-256 of a file that an earlier pull finished; undefined if no such file has this version.
 */
export function finishedSha256(path: string, version: Version): string | undefined {
  const state = readState(FinishedSchema, path)
  if (state === undefined || !isSameVersion(state.version, version)) return undefined
  const size = statSync(path, { throwIfNoEntry: false })?.size
  return size === version.bytes ? state.sha256 : undefined
}

/** Flushes a file or a folder to the disk. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } catch (error) {
    // Some systems cannot flush a folder.
    if (!['EISDIR', 'EINVAL', 'EPERM'].includes((error as NodeJS.ErrnoException).code!)) throw error
  } finally {
    await file.close()
  }
}

const statePath = (path: string) => join(dirname(path), `${basename(path)}.json`)

/** @returns Undefined if it cannot be read. */
function readState<T extends Type.TSchema>(schema: T, path: string): Type.Static<T> | undefined {
  try {
    return readFields(schema, readFileSync(statePath(path), 'utf8'))
  } catch {
    return undefined
  }
}
