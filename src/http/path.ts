/**
 * Which route a request target means: its path in the one form that routes have.
 *
 * Base URLs are pasted with and without `/v1`, with and without a slash at the end, so what comes
 * of joining them is taken for what was meant: `//v1/systemone`, `/v1/systemone/`,
 * `/v1/v1/systemone`.
 *
 * @module
 */

import { nearestOf } from '../api/words.js'
import { shortened } from '../api/place.js'

/** In the one form already, but for a doubled `/v1`. */
const usual = /^(?:\/[a-z][\w.-]*)+$/
const doubled = /^(?:\/v1)+(?=\/v1(?:\/|$))/
/** A target that names the whole resource, as proxies are sent it: scheme and authority. */
const authority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i
const encodedUnreserved = /%(?:2[DE]|3\d|4[1-9A-F]|5[\dAF]|6[1-9A-F]|7[\dAE])/gi

/** @param target - Of a request, without the query. */
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

/** The route of a path, of which some have the path of one thing in the place of its id. */
export function routeOf(path: string): string {
  return path.startsWith(ofModel) ? modelRoute : path
}

const ofModel = '/v1/models/'
export const modelRoute = `${ofModel}{id}`

/** The name in the path of a model; undefined if it cannot be one. */
export function modelIn(path: string): string | undefined {
  try {
    return decodeURIComponent(path.slice(ofModel.length))
  } catch {
    return undefined
  }
}

/** Looking for the nearest route takes time by the length. */
const longestLookedUp = 64

/** What other APIs have behind `/v1`: who asks for it takes this server for another one. */
const others =
  /^\/v1\/(?:chat|completions|embeddings|responses|messages|moderations|rerank|classify|generate|audio|images|files|assistants|threads|engines)(?:\/|$)/

/**
 * Why there is no such route, and which one is meant.
 *
 * @param routes - Those that there are.
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
  const found = routes.includes(`/v1${path}`)
    ? `/v1${path}`
    : nearestOf(path.slice(0, longestLookedUp), routes)
  return `${start}: did you mean ${found}? All of them are in GET /openapi.json`
}
