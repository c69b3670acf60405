/**
 * Turns a request's target into a route: each path in one canonical form.
 *
 * Base URLs are pasted with and without `/v1`, with and without a trailing slash, so their joined
 * forms are accepted: `//v1/systemone`, `/v1/systemone/`, `/v1/v1/systemone`.
 *
 * @module
 */

import { nearOf } from '../api/words.js'
import { shortened } from '../api/place.js'

/** Canonical already, except for a doubled `/v1`. */
const usual = /^(?:\/[a-z][\w.-]*)+$/
const doubled = /^(?:\/v1)+(?=\/v1(?:\/|$))/
/** An absolute-form target, as proxies receive it: scheme and authority. */
const authority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i
const encodedUnreserved = /%(?:2[DE]|3\d|4[1-9A-F]|5[\dAF]|6[1-9A-F]|7[\dAE])/gi

/** @param target - Of a request, without its query. */
export function pathOf(target: string): string {
  if (usual.test(target) && !target.startsWith('/v1/v1')) return target
  const path = target
    .replace(authority, '')
    .replace(/[?#].*$/s, '')
    .replaceAll(encodedUnreserved, (code) => decodeURIComponent(code))
    .replaceAll(/\/{2,}/g, '/')
    .replace(doubled, '')
  if (path === '' || path === '*') return '/'
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** The route of a path; some routes have an id in their path. */
export function routeOf(path: string): string {
  return path.startsWith(ofModel) ? modelRoute : path
}

const ofModel = '/v1/models/'
export const modelRoute = `${ofModel}{id}`

/** The model's name in a path; undefined if it cannot be one. */
export function modelIn(path: string): string | undefined {
  try {
    return decodeURIComponent(path.slice(ofModel.length))
  } catch {
    return undefined
  }
}

/** The search for the nearest route takes time by the length of the path. */
const longestLookedUp = 64

/** Routes of other APIs under `/v1`: a client that asks for one mistakes this server. */
const others =
  /^\/v1\/(?:chat|completions|embeddings|responses|messages|moderations|rerank|classify|generate|audio|images|files|assistants|threads|engines)(?:\/|$)/

/** A base URL that has a route already, and what a client has put behind it. */
const joined =
  /^(\/v1\/(?:systemone|decisions))(?:\/v1)?\/(?:systemone|decisions|models|usage)(?:\/|$)/

/**
 * Says that a route does not exist, and which one was probably meant.
 *
 * @param routes - All routes.
 */
export function noSuchRoute(path: string, routes: readonly string[]): string {
  const start = 'There is no such route'
  if (others.test(path)) {
    return (
      `${start}: ${shortened(path)} belongs to other APIs. This server answers typed questions ` +
      'about a state: POST /v1/systemone, many at once POST /v1/systemone/batch, and its ' +
      'description is GET /openapi.json'
    )
  }
  const [, base] = joined.exec(path) ?? []
  if (base !== undefined) return `${start}: leave ${base} out of the base URL, the client adds it`
  const found = routes.includes(`/v1${path}`)
    ? `/v1${path}`
    : path.length <= longestLookedUp && nearOf(path, routes)
  return `${start}: ${found ? `did you mean ${found}? All of them` : 'all of them'} are in GET /openapi.json`
}
