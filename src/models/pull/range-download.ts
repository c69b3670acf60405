/**
 * Downloads the missing parts of a file by several range requests at once.
 *
 * @module
 */

import type { DownloadOptions, RemoteFile } from './download.js'
import { fetchBytes, type Reply, Transient } from './fetch.js'
import type { PartFile } from './part-file.js'
import type { Span } from './ranges.js'
import { Retries } from './retry.js'

/** The file has changed since its first bytes came. */
export class Changed extends Error {}

/** A cache may send the whole file now and then. */
const mostIgnored = 3

/** The server sends ranges no more. */
export class NoRanges extends Error {}

/** Rules 1 and 2 of download.ts. */
export class RangeDownload {
  readonly #file: Pick<RemoteFile, 'url'>
  readonly #part: PartFile
  readonly #options: DownloadOptions
  readonly #retries: Retries
  readonly #stop = new AbortController()
  #pieces: Span[] = []
  /** Replies in a row that were the whole file instead of a range. */
  #ignored = 0

  constructor(file: Pick<RemoteFile, 'url'>, part: PartFile, options: DownloadOptions) {
    const signals = [this.#stop.signal, ...(options.signal ? [options.signal] : [])]
    this.#file = file
    this.#part = part
    this.#options = { ...options, signal: AbortSignal.any(signals) }
    this.#retries = new Retries(this.#options)
  }

  /** Fetches all missing ranges. */
  async run(): Promise<void> {
    const { connections, pieceBytes } = this.#options
    const { there, version } = this.#part
    const share = Math.ceil((version.bytes - there.bytes) / connections)
    const longest = Math.max(1, Math.min(pieceBytes, Math.max(share, 1 << 20)))
    this.#pieces = there.missing(version.bytes, longest)
    let failure: Error | undefined
    const work = async () => {
      try {
        for (let piece = this.#pieces.shift(); piece; piece = this.#pieces.shift()) {
          await this.#fetch(...piece)
        }
      } catch (error) {
        // The other connections fail later, because of this failure.
        failure ??= error as Error
        this.#stop.abort()
      }
    }
    const workers = Array.from({ length: Math.min(connections, this.#pieces.length) }, work)
    await Promise.all(workers)
    if (failure !== undefined) throw failure
  }

  async #fetch(from: number, to: number): Promise<void> {
    const progress = { at: from }
    while (progress.at < to) {
      try {
        await this.#fetchOnce(progress, to)
      } catch (error) {
        await this.#retries.wait(error)
      }
    }
  }

  async #fetchOnce(progress: { at: number }, to: number): Promise<void> {
    const first = progress.at
    const reply = await fetchBytes(this.#file.url, [first, to - 1], this.#options)
    const end = this.#checkedEnd(reply, first, to)
    for await (const bytes of reply.pieces) {
      if (progress.at + bytes.length > end) {
        // A server that sends more than it announced may have sent wrong bytes before, too.
        this.#part.there.remove(first, progress.at)
        this.#options.onBytes(first - progress.at)
        progress.at = first
        throw new Transient(`${this.#file.url.host} sent more bytes than it announced`)
      }
      await this.#part.write(bytes, progress.at)
      progress.at += bytes.length
      this.#retries.progress()
      this.#options.onBytes(bytes.length)
    }
    if (progress.at < end) throw new Transient(`${this.#file.url.host} closed the connection early`)
  }

  /** @returns Where the reply ends. */
  #checkedEnd({ status, headers, cancel }: Reply, first: number, to: number): number {
    try {
      const { bytes, tag, sha256 } = this.#part.version
      if (status === 416) throw new Changed('it has become shorter')
      const range = contentRange(headers)
      if (status === 200 && ++this.#ignored === mostIgnored) {
        throw new NoRanges(`${this.#file.url.host} sends no ranges any more`)
      }
      if (status === 200 || range === undefined || range.first !== first || range.last >= to) {
        throw new Transient(`${this.#file.url.host} sent other bytes than it was asked for`)
      }
      if (range.total !== undefined && range.total !== bytes) {
        throw new Changed(`it had ${bytes} bytes, and now has ${range.total}`)
      }
      if (sha256 === '' && tagOf(headers) !== tag) {
        throw new Changed(`its version was ${tag}, and now is ${tagOf(headers)}`)
      }
      this.#ignored = 0
      return range.last + 1
    } catch (error) {
      cancel()
      throw error
    }
  }
}

/** The tag of a version of a file; empty if the server sends none. */
export function tagOf(headers: Headers): string {
  return headers.get('etag') ?? headers.get('last-modified') ?? ''
}

/** The range of a reply by its `content-range`; undefined without one. */
export function contentRange(headers: Headers) {
  const [, first, last, total] =
    /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/.exec(headers.get('content-range') ?? '') ?? []
  if (first === undefined) return undefined
  return {
    first: Number(first),
    last: Number(last),
    total: total === '*' ? undefined : Number(total),
  }
}
