/**
 * The head of a request of node:http.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http'
import { OiError } from '../../errors.js'
import { versionError } from './transport-errors.js'
import type { Head } from '../contract.js'

export class NodeHead implements Head {
  readonly #request: IncomingMessage

  constructor(request: IncomingMessage) {
    this.#request = request
  }

  getMethod(): string {
    return this.#request.method!.toLowerCase()
  }

  getUrl(): string {
    const url = this.#request.url!
    const query = url.indexOf('?')
    return query < 0 ? url : url.slice(0, query)
  }

  getQuery(): string {
    const url = this.#request.url!
    const query = url.indexOf('?')
    return query < 0 ? '' : url.slice(query + 1)
  }

  getHeader(name: string): string {
    const value = this.#request.headers[name]
    return typeof value === 'string' ? value : (value?.join(', ') ?? '')
  }

  forEach(visit: (name: string, value: string) => void): void {
    const { rawHeaders } = this.#request
    for (let i = 0; i < rawHeaders.length; i += 2) {
      visit(rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!)
    }
  }
}

/** Requests that node:http accepts and this server does not. */
export function refusalOf({
  httpVersion,
  rawHeaders,
  headers,
}: IncomingMessage): OiError | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return versionError()
  const hosts = countOf(rawHeaders, 'host')
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) {
    return new OiError('ERR_HTTP_MALFORMED', `Host: expected exactly one such header, got ${hosts}`)
  }
  const keys = countOf(rawHeaders, 'authorization')
  if (keys > 1) {
    const rule = `Authorization: expected one such header at most, got ${keys}`
    return new OiError('ERR_HTTP_MALFORMED', rule)
  }
  const coding = headers['transfer-encoding']
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion === '1.0')) {
    return new OiError('ERR_HTTP_MALFORMED', 'Transfer-Encoding: expected chunked, of HTTP/1.1')
  }
  return undefined
}

function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const each = rawHeaders[i]!
    if (each.length === name.length && each.toLowerCase() === name) count++
  }
  return count
}
