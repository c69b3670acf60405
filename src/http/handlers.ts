/**
 * All routes, independent of the transport: a head and a body in, a reply out.
 *
 * Nothing here knows sockets, so the same handlers run, and can be measured, on any HTTP server.
 *
 * @module
 */

import type { Caller } from '../accounts/accounts.js'
import { openApiDocument } from '../api/openapi/document.js'
import type { Decider, ModelCard } from '../decide/types.js'
import { OiError } from '../errors.js'
import type { RunnerReport } from '../runner/supervision.js'
import type { Tracer } from '../trace/tracer.js'
import { Callers } from './access/callers.js'
import { TrustedProxies } from './access/client-address.js'
import type { Cors } from './access/cors.js'
import { FailedKeys } from './access/failed-keys.js'
import type { Admission } from './access/admission.js'
import { stateScopes } from './access/state-scope.js'
import { BodyBudget } from './bodies/body.js'
import { BodyClock } from './bodies/body-clock.js'
import { Charges } from './requests/charges.js'
import { ServedBatch } from './requests/served-batch.js'
import { Deadlines } from './requests/deadlines.js'
import { ServedDecision } from './requests/served-decision.js'
import { ServedDecisions } from './requests/served-decisions.js'
import { ServedRequest } from './requests/served-request.js'
import type { PostContext } from './requests/post-context.js'
import type { ServedPost } from './requests/served-post.js'
import { Running } from '../running.js'
import type { Wire } from './requests/wire.js'
import type { Area, Backend, HandlersOptions, HandlersSettings } from './handlers-options.js'
import type { Logger } from './log/logger.js'
import { Metrics } from './metrics/metrics.js'
import { Traffic } from './metrics/traffic.js'
import { modelIn, modelRoute, pathOf } from './path.js'
import { modelEntry, modelList } from './reply/model-list.js'
import { usageReport } from './reply/usage-report.js'
import { answerFrom, otherMethod, type Route } from './routes.js'
import type { Client, Head, Listener } from './contract.js'

/** Routes with a body (POST). */
const posts = new Map<string, typeof ServedDecision | typeof ServedBatch | typeof ServedDecisions>([
  ['/v1/systemone', ServedDecision],
  ['/v1/systemone/batch', ServedBatch],
  ['/v1/decisions', ServedDecisions],
])
const metricsPath = '/metrics'
const mebibyte = 2 ** 20

/** How long bookings may still take after all undecided requests have been refused. */
const bookingMs = 5000

const unready = {
  loading: { message: 'The model is still being loaded', retryAfterMs: 2000 },
  failed: { message: 'The model could not be loaded', retryAfterMs: 60_000 },
  closing: { message: 'The server is shutting down', retryAfterMs: undefined },
}
const draining = 'The server is about to shut down: send nothing new'

export class Handlers implements PostContext, Listener {
  readonly admission: Admission
  readonly logger: Logger
  readonly bodies = new BodyBudget(0)
  readonly charges: Charges
  readonly heartbeatMs: number
  readonly running = new Running<ServedPost>()
  readonly traffic: Traffic
  readonly metrics: Metrics
  readonly failedKeys = new FailedKeys()
  readonly tracer: Tracer | undefined
  // Set by adjust().
  wire!: Wire
  maxBodyBytes!: number
  maxReplyBytes!: number
  bodyClock!: BodyClock
  deadlines!: Deadlines
  batchDeadlines!: Deadlines
  cors: Cors | undefined
  anonymous!: boolean
  scopeOf!: PostContext['scopeOf']
  trustedProxies!: TrustedProxies
  /** Every path that does not answer 404. */
  readonly paths: readonly string[]
  readonly #backend: Backend
  readonly #accounts: HandlersOptions['accounts']
  readonly #area: Area | undefined
  #maxQuestions: number | undefined
  readonly #callers: Callers
  #draining = false
  #closing = false
  /** Made on first use. */
  #openApi: string | undefined

  readonly #routes = new Map<string, Route>([
    ['/healthz', () => ({ status: 200, body: '{"status":"ok"}' })],
    [
      '/openapi.json',
      () => {
        this.#openApi ??= JSON.stringify(openApiDocument({ maxQuestions: this.#maxQuestions }))
        return { status: 200, body: this.#openApi }
      },
    ],
    [
      '/readyz',
      () => {
        this.#requireReady()
        return { status: 200, body: '{"status":"ready"}' }
      },
    ],
    [
      '/v1/models',
      (head, request) => {
        const models = this.#modelsOf(request.identify(head))
        return { status: 200, body: JSON.stringify(modelList(models, this.#limits)) }
      },
    ],
    [
      modelRoute,
      (head, request) => {
        const models = this.#modelsOf(request.identify(head))
        const id = modelIn(request.path)
        const model = models.find(({ name, aliases }) => {
          return name === id || (id !== undefined && aliases.includes(id))
        })
        const message = 'There is no such model: GET /v1/models lists them'
        if (model === undefined) throw new OiError('ERR_NOT_FOUND', message)
        return { status: 200, body: JSON.stringify(modelEntry(model, this.#limits)) }
      },
    ],
    [
      '/v1/usage',
      (head, request) => {
        const { workspace, keyId } = request.identify(head)
        // A caller without a key has no usage of its own.
        const usage = this.#accounts.usage(workspace, keyId === 0 ? undefined : keyId)
        return { status: 200, body: JSON.stringify(usageReport(usage)) }
      },
    ],
  ])

  constructor(options: HandlersOptions) {
    const { backend, accounts, admission, logger, serveMetrics } = options
    this.#backend = backend
    this.#accounts = accounts
    this.#callers = new Callers(accounts)
    this.admission = admission
    this.charges = new Charges(accounts.retryKeys, 0)
    this.logger = logger
    this.tracer = options.tracing?.tracer
    this.heartbeatMs = options.heartbeatMs ?? 15_000
    this.adjust(options)
    this.traffic = new Traffic([...this.#routes.keys(), ...posts.keys(), metricsPath])
    this.metrics = new Metrics({
      traffic: this.traffic,
      logger,
      running: () => this.running.size,
      engines: () => backend.decider()?.engines() ?? [],
      runners: () => backend.runners?.() ?? [],
      store: () => admission.storeFigures?.(),
      ready: () => this.#isReady(),
      waiting: () => admission.waiting?.() ?? 0,
      shared: () => admission.shared?.(),
      machine: options.machine ?? {},
      spans: () => options.tracing?.exporter,
    })
    if (serveMetrics ?? true) this.#routes.set(metricsPath, () => this.metrics.content())
    this.paths = [...this.#routes.keys(), ...posts.keys()]
    this.#area = options.area?.(this)
  }

  /** Applies other settings, from the next request on. */
  adjust(settings: HandlersSettings): void {
    this.wire = settings.wire
    this.maxBodyBytes = settings.maxBodyBytes
    this.maxReplyBytes = settings.maxReplyBytes ?? 16 * mebibyte
    this.bodies.maxBytes = settings.maxBodiesBytes ?? 256 * mebibyte
    this.bodyClock = new BodyClock(settings.bodyTimeoutMs ?? 60_000)
    this.deadlines = new Deadlines(settings.deadlineMs)
    this.batchDeadlines = new Deadlines(settings.batchDeadlineMs ?? 900_000)
    this.charges.keptMs = (settings.idempotencyHours ?? 24) * 3_600_000
    this.cors = settings.cors
    this.anonymous = settings.anonymous ?? false
    const { shareStates = 'workspace' } = settings
    this.scopeOf = stateScopes(shareStates)
    this.trustedProxies = settings.trustedProxies ?? new TrustedProxies([])
    this.#maxQuestions = settings.maxQuestions
    this.#openApi = undefined
  }

  /** Whether the console is served. */
  get hasConsole(): boolean {
    return this.#area?.hasConsole ?? false
  }

  get closing(): boolean {
    return this.#closing
  }

  open(head: Head, client: Client): ServedRequest | undefined {
    const path = pathOf(head.getUrl())
    const Posted = posts.get(path)
    if (Posted === undefined) {
      if (this.#area?.has(path, head)) return this.#area.open(head, client, path)
      return answerFrom(this.#routes, new ServedRequest(head, client, this), head, this.paths)
    }
    if (head.getMethod() !== 'post') {
      const request = new ServedRequest(head, client, this)
      request.answer(otherMethod(request, head, 'POST'))
      return undefined
    }
    const request = new Posted(head, client, this)
    request.begin(head)
    return request.ended ? undefined : request
  }

  refuse(head: Head, client: Client, error: OiError): void {
    new ServedRequest(head, client, this).fail(error)
  }

  /**
   * Makes `/readyz` report the coming shutdown; everything else goes on. Load balancers need a
   * moment to notice. Idempotent.
   */
  beginDrain(): void {
    this.#draining = true
  }

  /** Requests undecided after `graceMs` are answered 503; decided ones are booked and answered. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true
    this.#area?.close()
    for (const request of await this.running.drain(graceMs)) {
      request.cancel(new OiError('ERR_OVERLOADED', unready.closing.message))
    }
    await this.running.drain(bookingMs)
  }

  /** @throws {@link OiError} `ERR_OVERLOADED` if no request should be sent here now. */
  #requireReady(): void {
    this.decider()
    if (this.#draining) throw new OiError('ERR_OVERLOADED', draining)
    requireRunners(this.#backend.runners?.() ?? [])
    const trouble = this.admission.trouble?.()
    if (trouble !== undefined) throw new OiError('ERR_OVERLOADED', trouble)
  }

  get #limits() {
    return { max_body_bytes: this.maxBodyBytes, max_reply_bytes: this.maxReplyBytes }
  }

  /** The models that a caller may use. */
  #modelsOf({ models: allowed }: Caller): readonly ModelCard[] {
    return this.decider().models.filter(({ name }) => allowed?.includes(name) ?? true)
  }

  #isReady(): boolean {
    try {
      this.#requireReady()
      return true
    } catch {
      return false
    }
  }

  authenticate(header: string, head: Head, client: Client): Caller {
    return this.#callers.callerOf(header, head, client, this)
  }

  decider(): Decider {
    const state = this.#closing ? 'closing' : this.#backend.state()
    const decider = this.#backend.decider()
    if (state === 'ready' && decider !== undefined) return decider
    const { message, retryAfterMs } = unready[state === 'ready' ? 'loading' : state]
    throw new OiError('ERR_OVERLOADED', message, retryAfterMs === undefined ? {} : { retryAfterMs })
  }
}

/**
 * Requires that every model has a process that can answer.
 *
 * @throws {@link OiError} `ERR_OVERLOADED` naming the models without such a process.
 */
function requireRunners(runners: readonly RunnerReport[]): void {
  const ready = new Set(runners.filter(({ ready }) => ready).map(({ model }) => model))
  const missing = runners.filter(({ model }) => !ready.has(model))
  if (missing.length === 0) return
  const reasons = new Map(missing.map(({ model, reason }) => [model, reason]))
  // For each model, the replica that is ready first; over all models, the last.
  const soonest = (name: string) =>
    Math.min(...missing.filter(({ model }) => model === name).map((one) => one.retryAfterMs))
  const retryAfterMs = Math.max(...[...reasons.keys()].map(soonest))
  const list = [...reasons].map(([name, why]) => (why === undefined ? name : `${name} (${why})`))
  throw new OiError('ERR_OVERLOADED', `Being loaded again: ${list.join(', ')}`, { retryAfterMs })
}
