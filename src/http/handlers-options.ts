/**
 * Options of the handlers.
 *
 * @module
 */

import type { Accounts } from '../accounts/accounts.js'
import type { Decider } from '../decide/types.js'
import type { RunnerReport } from '../runner/supervision.js'
import type { Tracer } from '../trace/tracer.js'
import type { TrustedProxies } from './access/client-address.js'
import type { Cors } from './access/cors.js'
import type { Admission } from './access/admission.js'
import type { ShareStates } from './access/state-scope.js'
import type { Logger } from './log/logger.js'
import type { SpanFigures } from './metrics/metrics.js'
import type { Machine } from './metrics/process-metrics.js'
import type { ServedRequest } from './requests/served-request.js'
import type { PostContext } from './requests/post-context.js'
import type { Wire } from './requests/wire.js'
import type { Client, Head } from './contract.js'

/** The decider and the runners, and whether they are ready. */
export interface Backend {
  state(): 'loading' | 'ready' | 'failed' | 'closing'
  /** Defined while the state is `ready`. */
  decider(): Decider | undefined
  /** The models' processes; absent if models run in this process. */
  runners?(): readonly RunnerReport[]
}

/** Settings that can change while the server runs: requests under way keep theirs. */
export interface HandlersSettings {
  readonly wire: Wire
  readonly maxBodyBytes: number
  /** Time limit of a request from when its body has come, or of an item of a batch. */
  readonly deadlineMs: number
  /** Time in which a body must come. Default one minute. */
  readonly bodyTimeoutMs?: number | undefined
  /** Time limit of a batch as a whole. Default 15 minutes. */
  readonly batchDeadlineMs?: number | undefined
  /** How long a request with an `Idempotency-Key` is charged once. Default 24. */
  readonly idempotencyHours?: number | undefined
  /** Default 16 MiB. */
  readonly maxReplyBytes?: number | undefined
  /** All bodies together. Default 256 MiB. */
  readonly maxBodiesBytes?: number | undefined
  /** Questions in one request, for the OpenAPI document. Default 400. */
  readonly maxQuestions?: number | undefined
  /** Which web pages may call. Default: none. */
  readonly cors?: Cors | undefined
  /** Whether programs on this machine need no key. Default true. */
  readonly anonymous?: boolean | undefined
  /** Which callers share evaluated states. Default: those of a workspace. */
  readonly shareStates?: ShareStates | undefined
  /** Proxies whose X-Forwarded-For is believed. Default: none. */
  readonly trustedProxies?: TrustedProxies | undefined
}

/** A part of the server with paths and a context of its own: the admin API and the console. */
export interface Area {
  /** Whether the console is served. */
  readonly hasConsole: boolean
  /** Whether a request belongs here. */
  has(path: string, head: Head): boolean
  /** As `Listener.open`, for a path of this area. */
  open(head: Head, client: Client, path: string): ServedRequest | undefined
  close(): void
}

export interface HandlersOptions extends HandlersSettings {
  readonly backend: Backend
  readonly accounts: Pick<Accounts, 'authenticate' | 'callerOf' | 'retryKeys' | 'usage'>
  readonly admission: Admission
  readonly logger: Logger
  /** How long a batch as NDJSON may be silent before it sends an empty line. Default 15,000. */
  readonly heartbeatMs?: number | undefined
  /** Whether `/metrics` is a route. Default true. */
  readonly serveMetrics?: boolean
  /** Makes what is served beside `/v1`, once. Default: nothing. */
  readonly area?: ((server: PostContext) => Area) | undefined
  /** For the metrics. Default: unknown. */
  readonly machine?: Machine
  /** Default: nothing is traced. */
  readonly tracing?: { readonly tracer: Tracer; readonly exporter: SpanFigures } | undefined
}
