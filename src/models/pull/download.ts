/**
 * Downloads one remote file into a folder.
 *
 * Rules
 *   1. Several ranges are fetched at once, each on its own connection. A file records the ranges
 *      that are complete, and an interrupted pull resumes from it.
 *   2. Ranges of two versions of a file are never combined. A version is its SHA-256 if that is
 *      known beforehand, else the ETag (or time of change) of every single reply. Where they
 *      differ, the download starts over.
 *   3. No file gets its name before all of it is on the disk with the expected SHA-256.
 *   4. From a server without ranges, the file is read from beginning to end, and again if
 *      interrupted. Where nobody says how long it is, its own header does: a reply that ends with
 *      its connection looks the same if it was cut.
 *
 * @module
 */

import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { cutHeader, readGgufHeader, wholeBytes } from '../../engine/gguf-header.js'
import { OiError } from '../../errors.js'
import { sha256Of } from '../file-facts.js'
import type { PulledFile } from '../pulled-models.js'
import { fetchBytes, type FetchOptions, Transient } from './fetch.js'
import { finishedSha256, finishFile, PartFile, type Version } from './part-file.js'
import { Changed, contentRange, NoRanges, RangeDownload, tagOf } from './range-download.js'
import { type Patience, Retries } from './retry.js'
import { shownAddress } from './source.js'

export interface RemoteFile {
  /** Its name in the folder. */
  readonly name: string
  readonly url: URL
  /** The size that its source states, if any. */
  readonly bytes: number | undefined
  /** The expected 64 hex digits; undefined if there is nothing to compare with. */
  readonly sha256: string | undefined
}

export interface DownloadOptions extends Omit<FetchOptions, 'signal'>, Patience {
  /** Ranges that are fetched at the same time, at least 1. */
  readonly connections: number
  /** The longest range of one request. */
  readonly pieceBytes: number
  /** Called with the bytes that an earlier pull has left. */
  readonly onResume: (bytes: number) => void
  /** Called with the change of bytes on disk; negative if a download starts over. */
  readonly onBytes: (change: number) => void
  /** Called with the bytes that have been read again to be checked. */
  readonly onChecked: (bytes: number) => void
  /** @throws If the disk has no room for so many bytes more. */
  readonly requireRoom: (bytes: number) => Promise<void>
}

/** Versions of a file that are tried before the pull fails. */
const maxVersions = 3

/**
 * Fetches a file, or its missing ranges.
 *
 * @throws {@link OiError} `ERR_PULL`, `ERR_ABORTED`; the system's error if the disk fails. The
 *   fetched bytes then stay for the next pull.
 */
export async function download(
  file: RemoteFile,
  folder: string,
  options: DownloadOptions,
): Promise<PulledFile> {
  for (let versions = 1; ; versions++) {
    try {
      return await downloadVersion(file, folder, options)
    } catch (error) {
      if (!(error instanceof Changed)) throw error
      if (versions === maxVersions) {
        const message = `${shownAddress(file.url)} changes while it is read: ${error.message}`
        throw new OiError('ERR_PULL', message, { cause: error })
      }
      options.onRetry(`${error.message}; beginning anew`)
    }
  }
}

async function downloadVersion(
  file: RemoteFile,
  folder: string,
  options: DownloadOptions,
): Promise<PulledFile> {
  const path = join(folder, file.name)
  const partPath = `${path}.part`
  const version = await versionOf(file, options)
  if (version === undefined) return downloadWhole(file, path, options)
  const finished = finishedSha256(path, version)
  if (finished !== undefined) {
    options.onResume(version.bytes)
    options.onChecked(version.bytes)
    return { name: file.name, bytes: version.bytes, sha256: finished, version: version.tag }
  }

  const part = await PartFile.open(partPath, version)
  const before = part.there.bytes
  options.onResume(before)
  try {
    await options.requireRoom(version.bytes - before)
    await new RangeDownload(file, part, options).run()
  } catch (error) {
    await part.save().catch(() => {})
    await part.close()
    if (!(error instanceof Changed || error instanceof NoRanges)) throw error
    options.onBytes(-part.there.bytes)
    await part.discard()
    if (error instanceof Changed) throw error
    options.onRetry(`${error.message}; beginning anew, in one piece`)
    return downloadWhole(file, path, options)
  }
  await part.save()
  await part.close()
  const sha256 = await sha256Of(partPath, options.onChecked, options.signal)
  if (file.sha256 !== undefined && sha256 !== file.sha256) {
    await part.discard()
    const fault = `its SHA-256 is ${sha256}, expected ${file.sha256}`
    options.onBytes(-version.bytes)
    // The earlier bytes may have been of another version.
    if (before > 0) throw new Changed(fault)
    throw new OiError('ERR_PULL', `${shownAddress(file.url)}: ${fault}`)
  }
  await part.finish(path, sha256)
  return { name: file.name, bytes: version.bytes, sha256, version: version.tag }
}

/**
 * Asks for one byte, to learn length and version. @returns Undefined if the server has no ranges.
 */
export async function versionOf(
  file: Pick<RemoteFile, 'url' | 'bytes' | 'sha256'>,
  options: FetchOptions & Patience,
): Promise<Version | undefined> {
  const place = shownAddress(file.url)
  const { status, headers } = await new Retries(options).run(async () => {
    const reply = await fetchBytes(file.url, [0, 0], options)
    reply.cancel()
    return reply
  })
  if (status === 416) throw new OiError('ERR_PULL', `${place} is empty`)
  const total = status === 206 ? contentRange(headers)?.total : undefined
  if (total === undefined) return undefined
  if (file.bytes !== undefined && total !== file.bytes) {
    throw new OiError('ERR_PULL', `${place} has ${total} bytes, expected ${file.bytes}`)
  }
  return { sha256: file.sha256 ?? '', source: place, tag: tagOf(headers), bytes: total }
}

/** Rule 4. */
async function downloadWhole(
  file: RemoteFile,
  path: string,
  options: DownloadOptions,
): Promise<PulledFile> {
  const partPath = `${path}.part`
  // Ranges of an earlier pull are of no use here.
  await rm(`${partPath}.json`, { force: true })
  const retries = new Retries(options)
  const { bytes, tag } = await retries.run(() => fetchWhole(file, partPath, options))
  const sha256 = await sha256Of(partPath, options.onChecked, options.signal)
  if (file.sha256 !== undefined && sha256 !== file.sha256) {
    await rm(partPath, { force: true })
    const fault = `its SHA-256 is ${sha256}, expected ${file.sha256}`
    throw new OiError('ERR_PULL', `${shownAddress(file.url)}: ${fault}`)
  }
  const version = { sha256: file.sha256 ?? '', source: shownAddress(file.url), tag, bytes }
  await finishFile(partPath, path, { version, sha256 })
  return { name: file.name, bytes, sha256, version: tag }
}

async function fetchWhole(file: RemoteFile, partPath: string, options: DownloadOptions) {
  const { status, pieces, headers, cancel } = await fetchBytes(file.url, undefined, options)
  if (status !== 200) {
    cancel()
    throw new Transient(`${file.url.host} answered ${status} to a request for all`)
  }
  const announced = /^\d+$/.exec(headers.get('content-length') ?? '')?.[0]
  const length = announced === undefined ? file.bytes : Number(announced)
  if (file.bytes !== undefined && length !== file.bytes) {
    cancel()
    const place = shownAddress(file.url)
    throw new OiError('ERR_PULL', `${place} has ${length} bytes, expected ${file.bytes}`)
  }
  const part = await open(partPath, 'w')
  let bytes = 0
  try {
    await options.requireRoom(length ?? 0)
    for await (const piece of pieces) {
      await part.writeFile(piece)
      bytes += piece.length
      options.onBytes(piece.length)
      if (length !== undefined && bytes > length) break
    }
    const whole = length ?? (file.sha256 === undefined ? await wholeBytesOf(partPath) : 0)
    if (length === undefined ? bytes < whole : bytes !== length) {
      throw new Transient(`${file.url.host} sent ${bytes} bytes of ${whole}`)
    }
    return { bytes, tag: tagOf(headers) }
  } catch (error) {
    options.onBytes(-bytes)
    throw error
  } finally {
    cancel()
    await part.close()
  }
}

/** By its header; 1 more than it has if that is cut, 0 if it is no GGUF file. */
async function wholeBytesOf(path: string): Promise<number> {
  const header = await readGgufHeader(path)
  if (typeof header !== 'string') return wholeBytes(header)
  return header === cutHeader ? (await stat(path)).size + 1 : 0
}
