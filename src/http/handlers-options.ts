/**
 * What the handlers are made of.
 *
 * @module
 */

import type { Accounts } from '../accounts/accounts.js'
import type { Decider } from '../decide/types.js'
import type { RunnerReport } from '../runner/supervision.js'
import type { Tracer } from '../trace/tracer.js'
import type { AdminOptions } from './admin/call.js'
import type { TrustedProxies } from './access/client-address.js'
import type { Cors } from './access/cors.js'
import type { Gate } from './access/gate.js'
import type { Logger } from './log/logger.js'
import type { SpanFigures } from './metrics/metrics.js'
import type { Machine } from './metrics/process-metrics.js'
import type { Wire } from './exchange/wire.js'

/** What answers, and whether it can yet. */
export interface Backend {
  state(): 'loading' | 'ready' | 'failed' | 'closing'
  /** Defined while the state is `ready`. */
  decider(): Decider | undefined
  /** The models' processes; none where models run in this one. */
  runners?(): readonly RunnerReport[]
}

/** What can change while the server runs: what is under way goes on as it began. */
export interface HandlersSettings {
  readonly wire: Wire
  readonly maxBodyBytes: number
  /** Time for a request, or an item of a batch from its turn on, milliseconds. */
  readonly deadlineMs: number
  /** Time for a batch as a whole. Default 15 minutes. */
  readonly batchDeadlineMs?: number | undefined
  /** Default 16 MiB. */
  readonly maxReplyBytes?: number | undefined
  /** Of all requests together. Default 256 MiB. */
  readonly maxBodiesBytes?: number | undefined
  /** Questions in one request, for the OpenAPI document. Default 256. */
  readonly maxQuestions?: number | undefined
  /** Which web pages may call. Default: none. */
  readonly cors?: Cors | undefined
  /** Whether this machine's programs need no key. Default: they do. */
  readonly anonymous?: boolean | undefined
  /** Whose X-Forwarded-For is believed. Default: nobody's. */
  readonly trustedProxies?: TrustedProxies | undefined
}

export interface HandlersOptions extends HandlersSettings {
  readonly backend: Backend
  readonly accounts: Pick<Accounts, 'authenticate' | 'callerOf' | 'usage'>
  readonly gate: Gate
  readonly logger: Logger
  /** After how long without a result a batch as lines sends an empty line. Default 15,000. */
  readonly heartbeatMs?: number | undefined
  /** Whether `/metrics` is one of the routes. Default true. */
  readonly serveMetrics?: boolean
  /** Without, there is neither an admin API nor a console. */
  readonly admin?: AdminOptions | undefined
  /** For the metrics. Default: nothing is known. */
  readonly machine?: Machine
  /** Default: nothing is traced. */
  readonly tracing?: { readonly tracer: Tracer; readonly exporter: SpanFigures } | undefined
}
