/**
 * Serves only `GET /metrics`, on an address of its own.
 *
 * @module
 */

import type { OiError } from '../errors.js'
import { ServedRequest } from './requests/served-request.js'
import type { RequestContext } from './requests/request-context.js'
import type { Metrics } from './metrics/metrics.js'
import { answerFrom, type Route } from './routes.js'
import type { Client, Head, Listener } from './contract.js'

export class MetricsHandlers implements Listener {
  readonly #context: RequestContext
  readonly #routes: ReadonlyMap<string, Route>

  /** @param context - Of the handlers that these metrics describe. */
  constructor(context: RequestContext & { readonly metrics: Metrics }) {
    this.#context = context
    this.#routes = new Map([['/metrics', () => context.metrics.content()]])
  }

  open(head: Head, client: Client): ServedRequest | undefined {
    const request = new ServedRequest(head, client, this.#context)
    return answerFrom(this.#routes, request, head, [...this.#routes.keys()])
  }

  refuse(head: Head, client: Client, error: OiError): void {
    new ServedRequest(head, client, this.#context).fail(error)
  }

  /** There is no `/readyz` here. */
  beginDrain(): void {}

  /** No request here lasts longer than a moment. */
  async close(): Promise<void> {}
}
