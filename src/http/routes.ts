/**
 * Routes that are answered from the head alone, for GET and HEAD.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { Exchange } from './exchange/exchange.js'
import type { Head } from './transport/head.js'
import { noSuchRoute, routeOf } from './path.js'
import { type Content, errorContent } from './reply/reply.js'

const everyMethod = 'GET, HEAD, POST'

/** @param exchange - Its `identify()` gives the caller. */
export type Route = (head: Head, exchange: Exchange) => Content | Promise<Content>

/**
 * Answers an exchange. Never throws.
 *
 * @param paths - Of all routes, including those with bodies.
 * @returns The exchange if its reply is still to come, undefined if it has been sent.
 */
export function answerFrom(
  routes: ReadonlyMap<string, Route>,
  exchange: Exchange,
  head: Head,
  paths: readonly string[],
): Exchange | undefined {
  try {
    const content = contentOf(routes, exchange, head, paths)
    if (content instanceof Promise) {
      content
        .then((ready) => exchange.answer(ready))
        .catch((error: unknown) => exchange.fail(error))
      return exchange
    }
    exchange.answer(content)
  } catch (error) {
    exchange.fail(error)
  }
  return exchange.ended ? undefined : exchange
}

/** The answer to a method that a route does not take. @param allow - The methods it takes. */
export function otherMethod(exchange: Exchange, head: Head, allow: string): Content {
  const preflight = exchange.preflight(head, allow)
  if (preflight !== undefined) return preflight
  const error = new OiError('ERR_METHOD_NOT_ALLOWED', `This route takes ${allow}`)
  return { ...errorContent(error, exchange.id), headers: ['allow', allow] }
}

function contentOf(
  routes: ReadonlyMap<string, Route>,
  exchange: Exchange,
  head: Head,
  paths: readonly string[],
): Content | Promise<Content> {
  const { method, path } = exchange
  const route = routes.get(routeOf(path))
  if (route === undefined) {
    // A page sees an error only in the reply to the call itself, so the preflight succeeds.
    const preflight = exchange.preflight(head, everyMethod)
    if (preflight !== undefined) return preflight
    // `OPTIONS /` is about the whole server: HAProxy's health check sends it.
    if (method === 'options' && path === '/') {
      return { status: 204, body: '', headers: ['allow', `${everyMethod}, OPTIONS`] }
    }
    throw new OiError('ERR_NOT_FOUND', noSuchRoute(path, paths))
  }
  if (method === 'get' || method === 'head') return route(head, exchange)
  return otherMethod(exchange, head, 'GET, HEAD')
}
