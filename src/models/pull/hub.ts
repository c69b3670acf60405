/**
 * A hub's repositories, as the Hugging Face Hub lists and serves them. Other servers with its API
 * (mirrors, caches) work too.
 *
 * @module
 */

import Type from 'typebox'
import { OiError } from '../../errors.js'
import { count, readFields } from '../json-fields.js'
import type { ListedFile } from './choose-files.js'
import { fetchBytes, type FetchOptions, Transient } from './fetch.js'
import { type Patience, Retries } from './retry.js'
import type { Source } from './source.js'

type HubSource = Extract<Source, { kind: 'hub' }>

interface Repository {
  /** The listed commit: its files do not change, whatever is pushed meanwhile. */
  readonly commit: string
  readonly files: readonly ListedFile[]
}

const hash = Type.Optional(Type.Unknown())
const FileSchema = Type.Object({
  rfilename: Type.String(),
  size: Type.Optional(count),
  lfs: Type.Optional(Type.Object({ sha256: hash, oid: hash })),
})
const ListingSchema = Type.Object({
  sha: Type.String({ pattern: '^[0-9a-f]{40,64}$', expected: 'a commit' }),
  siblings: Type.Array(FileSchema),
})

/** More than the listing of any repository. */
const maxListingBytes = 64 << 20

/** @throws {@link OiError} `ERR_PULL` if it does not exist, or access is denied. */
export async function listRepository(
  source: HubSource,
  hub: URL,
  options: FetchOptions & Patience,
): Promise<Repository> {
  const { owner, repository, revision } = source
  const at = revision === 'main' ? '' : `/revision/${encodeURIComponent(revision)}`
  const url = inHub(hub, `api/models/${owner}/${repository}${at}?blobs=true`)
  const text = await new Retries(options).run(() => readText(url, options))
  try {
    const { sha, siblings } = readFields(ListingSchema, text)
    return { commit: sha, files: siblings.map(fileOf) }
  } catch (cause) {
    const reason = (cause as Error).message
    const message = `${url.origin}${url.pathname} did not answer with a listing: ${reason}`
    throw new OiError('ERR_PULL', message, { cause })
  }
}

/** The address of a file. @param path - Inside the repository. */
export function fileAddress(
  { owner, repository }: HubSource,
  commit: string,
  path: string,
  hub: URL,
): URL {
  const segments = path.split('/').map(encodeURIComponent).join('/')
  return inHub(hub, `${owner}/${repository}/resolve/${commit}/${segments}`)
}

function inHub(hub: URL, path: string): URL {
  return new URL(path, hub.href.endsWith('/') ? hub : `${hub.href}/`)
}

function fileOf({ rfilename, size, lfs }: Type.Static<typeof FileSchema>): ListedFile {
  const sha256 = lfs?.sha256 ?? lfs?.oid
  const isSha256 = typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)
  return { path: rfilename, bytes: size, sha256: isSha256 ? sha256 : undefined }
}

async function readText(url: URL, options: FetchOptions): Promise<string> {
  const { pieces, status } = await fetchBytes(url, undefined, options)
  const read: Uint8Array[] = []
  let bytes = 0
  for await (const piece of pieces) {
    read.push(piece)
    bytes += piece.length
    if (bytes > maxListingBytes) {
      throw new OiError('ERR_PULL', `${url.origin} sends a listing over ${maxListingBytes} bytes`)
    }
  }
  if (status !== 200) throw new Transient(`${url.host} answered ${status}`)
  return Buffer.concat(read).toString('utf8')
}
