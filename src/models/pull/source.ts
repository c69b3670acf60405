/**
 * The source of `oi models pull`: a repository of a hub, an address, or a path.
 *
 * @module
 */

import { resolve } from 'node:path'
import { OiError } from '../../errors.js'

export type Source =
  | {
      readonly kind: 'hub'
      readonly owner: string
      readonly repository: string
      /** A branch, a tag or a commit. */
      readonly revision: string
      /** A quantization, or a file's path that ends in `.gguf`; undefined: the pull chooses. */
      readonly wanted: string | undefined
    }
  | { readonly kind: 'address'; readonly url: URL }
  | { readonly kind: 'path'; readonly path: string }

const owned = '[A-Za-z0-9][A-Za-z0-9._-]*'
const hubText = new RegExp(`^hf:(${owned})/(${owned})(?::(.+))?$`)
/** Pages of the hub whose addresses people copy: a repository's, or a file's. */
const hubPage = new RegExp(`^/(${owned})/(${owned})(?:/(?:blob|resolve)/([^/]+)/(.+\\.gguf))?/?$`)

/**
 * @param hub - The hub's address; addresses of its pages are accepted too.
 * @param place - Where it was given, for messages.
 * @throws {@link OiError} `ERR_CONFIG` if it is none of these.
 */
export function readSource(text: string, hub: URL, place = 'source'): Source {
  if (text.startsWith('hf:')) return hubSource(text, place)
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return { kind: 'path', path: text }
  const url = readAddress(place, text)
  const [page, owner, repository, revision = 'main', file] = hubPage.exec(url.pathname) ?? []
  const isFile = file === undefined && repository?.toLowerCase().endsWith('.gguf')
  if (url.origin !== hub.origin || page === undefined || isFile) return { kind: 'address', url }
  const wanted = file === undefined ? undefined : decodedPath(file)
  const named = { owner: owner!, repository: repository!, revision: decodedPath(revision) }
  return { kind: 'hub', ...named, wanted }
}

/** @throws {@link OiError} `ERR_CONFIG` if it has an invalid escape. */
export function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch (cause) {
    throw new OiError('ERR_CONFIG', `source: ${path} has a % without an escape`, { cause })
  }
}

function hubSource(text: string, place: string): Source {
  const [found, owner, repository, wanted] = hubText.exec(text) ?? []
  if (found === undefined) {
    const example = 'hf:owner/repository or hf:owner/repository:Q4_K_M'
    throw new OiError('ERR_CONFIG', `${place}: expected ${example}, got ${text}`)
  }
  return { kind: 'hub', owner: owner!, repository: repository!, revision: 'main', wanted }
}

/**
 * @param place - Where it was given, for messages.
 * @throws {@link OiError} `ERR_CONFIG`.
 */
export function readAddress(place: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new OiError('ERR_CONFIG', `${place}: expected an address like https://…, got ${text}`)
  }
  if (url.username !== '' || url.password !== '') {
    // The address is not shown: it has a secret.
    const remedy = 'give a token with --token-file'
    throw new OiError('ERR_CONFIG', `${place}: expected an address without a password: ${remedy}`)
  }
  url.hash = ''
  return url
}

/** An address for people: without its query, which may have a signature. */
export function shownAddress({ origin, pathname }: URL): string {
  return origin + pathname
}

/** The source as `model.json` records it: equal for two pulls of the same source. */
export function sourceText(source: Source): string {
  switch (source.kind) {
    case 'hub': {
      const { owner, repository, revision, wanted } = source
      const of = revision === 'main' ? '' : `@${revision}`
      return `hf:${owner}/${repository}${of}${wanted === undefined ? '' : `:${wanted}`}`
    }
    case 'address':
      return shownAddress(source.url)
    case 'path':
      return resolve(source.path)
  }
}
