/**
 * Routes that are answered from the head alone, for GET and HEAD.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { ServedRequest } from './requests/served-request.js'
import { noSuchRoute, routeOf } from './path.js'
import { errorContent } from './reply/reply.js'
import type { Content, Head } from './contract.js'

const everyMethod = 'GET, HEAD, POST'

/** @param request - Its `identify()` gives the caller. */
export type Route = (head: Head, request: ServedRequest) => Content | Promise<Content>

/**
 * Answers a request. Never throws.
 *
 * @param paths - Of all routes, including those with bodies.
 * @returns The request if its reply is still to come, undefined if it has been sent.
 */
export function answerFrom(
  routes: ReadonlyMap<string, Route>,
  request: ServedRequest,
  head: Head,
  paths: readonly string[],
): ServedRequest | undefined {
  try {
    const content = contentOf(routes, request, head, paths)
    if (content instanceof Promise) {
      content.then((ready) => request.answer(ready)).catch((error: unknown) => request.fail(error))
      return request
    }
    request.answer(content)
  } catch (error) {
    request.fail(error)
  }
  return request.ended ? undefined : request
}

/** The answer to a method that a route does not take. @param allow - The methods it takes. */
export function otherMethod(request: ServedRequest, head: Head, allow: string): Content {
  const preflight = request.preflight(head, allow)
  if (preflight !== undefined) return preflight
  const error = new OiError('ERR_METHOD_NOT_ALLOWED', `This route takes ${allow}`)
  return { ...errorContent(error, request.id), headers: ['allow', allow] }
}

function contentOf(
  routes: ReadonlyMap<string, Route>,
  request: ServedRequest,
  head: Head,
  paths: readonly string[],
): Content | Promise<Content> {
  const { method, path } = request
  const route = routes.get(routeOf(path))
  if (route === undefined) {
    // A page sees an error only in the reply to the call itself, so the preflight succeeds.
    const preflight = request.preflight(head, everyMethod)
    if (preflight !== undefined) return preflight
    // `OPTIONS /` is about the whole server: HAProxy's health check sends it.
    if (method === 'options' && path === '/') {
      return { status: 204, body: '', headers: ['allow', `${everyMethod}, OPTIONS`] }
    }
    throw new OiError('ERR_NOT_FOUND', noSuchRoute(path, paths))
  }
  if (method === 'get' || method === 'head') return route(head, request)
  return otherMethod(request, head, 'GET, HEAD')
}
