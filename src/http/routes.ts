/**
 * Routes that are answered from the head alone, by GET and HEAD.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { Exchange, Head } from './exchange.js'
import { type Content, errorContent } from './reply.js'

/** @param exchange - Which `identify()` lets know whose it is. */
export type Route = (head: Head, exchange: Exchange) => Content | Promise<Content>

/**
 * Answers an exchange. Never throws.
 *
 * @returns The exchange if its reply is still to come, undefined if it has been sent.
 */
export function answerFrom(
  routes: ReadonlyMap<string, Route>,
  exchange: Exchange,
  head: Head,
): Exchange | undefined {
  try {
    const content = contentOf(routes, exchange, head)
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
  return undefined
}

/** The answer to a method that a route does not take. @param allow - Those that it takes. */
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
): Content | Promise<Content> {
  const { method, path } = exchange
  const route = routes.get(path)
  if (route === undefined) throw new OiError('ERR_NOT_FOUND', 'There is no such route')
  if (method === 'get' || method === 'head') return route(head, exchange)
  return otherMethod(exchange, head, 'GET, HEAD')
}
