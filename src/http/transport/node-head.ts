/**
 * The head of a request of node:http.
 *
 * @module
 */

import type { IncomingMessage } from 'node:http'
import type { Head } from './head.js'

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
