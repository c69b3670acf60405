/**
 * The listening servers: the API and, if they have an address of their own, the metrics.
 *
 * @module
 */

import { hostname, networkInterfaces } from 'node:os'
import type { Accounts } from '../accounts/accounts.js'
import { AdminArea } from '../admin/admin-area.js'
import type { PullAdmin } from '../admin/pulls.js'
import type { AdminMode } from '../admin/reach.js'
import type { ModelAdmin } from '../admin/socket/operations.js'
import type { Config, ModelConfig, SettingReport } from '../config.js'
import { availableMemory } from '../engine/machine.js'
import { CertificateWatch } from '../http/transport/certificate-watch.js'
import { createTrustedProxies, isLoopback } from '../http/access/client-address.js'
import { createCors } from '../http/access/cors.js'
import type { PostContext } from '../http/requests/post-context.js'
import { Handlers } from '../http/handlers.js'
import type { Backend, HandlersSettings } from '../http/handlers-options.js'
import { MetricsHandlers } from '../http/metrics-handlers.js'
import { Server } from '../http/server.js'
import { readTls, type TlsContent, type TlsFiles } from '../http/transport/tls.js'
import { SharedAdmission } from '../http/access/shared/shared-admission.js'
import { SharedLimits } from '../http/access/shared/shared-limits.js'
import { WorkspaceAdmission } from '../http/access/workspace-admission.js'
import { packageVersion } from '../package-root.js'
import { bodyLimit } from '../config.js'
import type { Dependencies } from './dependencies.js'
import { replicaDevices } from '../opening/models-to-open.js'
import type { ServerLog } from './server-log.js'
import type { Tracing } from './tracing.js'

interface FrontOptions {
  readonly config: Config
  /** The models that will be loaded. */
  readonly models: readonly ModelConfig[]
  readonly backend: Backend
  readonly accounts: Accounts
  readonly log: ServerLog
  readonly createWire: Dependencies['createWire']
  /** Operations on the models, for the admin API. */
  readonly modelAdmin: ModelAdmin
  /** Models on the disk, for the admin API. */
  readonly pulls: PullAdmin
  /** Every setting with its value and origin. */
  readonly settings: () => readonly SettingReport[]
  /** Undefined: no tracing. */
  readonly tracing: Tracing | undefined
}

/** State that follows from settings which can change while the server runs. */
interface Live {
  readonly handlers: HandlersSettings
  readonly places: { readonly places: number; readonly placeWaitMs: number }
}

export class Front {
  readonly #createWire: Dependencies['createWire']
  readonly #admission: WorkspaceAdmission
  readonly #shared: SharedLimits | undefined
  readonly #handlers: Handlers
  /** The API first. */
  readonly #servers: Server[] = []
  readonly #addresses: string[] = []
  readonly #watch: CertificateWatch
  #config: Config
  /** The certificate in use; undefined: plain HTTP. */
  #tls: TlsContent | undefined

  /** @throws {@link OiError} `ERR_LISTEN`, `ERR_CONFIG`; nothing listens then. */
  static async listen(options: FrontOptions): Promise<Front> {
    const front = new Front(options)
    try {
      await front.#listen(options)
      return front
    } catch (error) {
      await front.close(0)
      throw error
    }
  }

  private constructor(options: FrontOptions) {
    const { config, models, backend, accounts, log, createWire, tracing } = options
    this.#createWire = createWire
    this.#config = config
    const { admin: mode } = config
    const files = tlsFiles(config)
    this.#tls = files && readTls(files)
    const { handlers, places } = this.#live(config, models)
    this.#shared = sharedLimits(config, log)
    const admission = (this.#admission =
      this.#shared === undefined
        ? new WorkspaceAdmission({ accounts, ...places })
        : new SharedAdmission({ accounts, ...places }, this.#shared))
    this.#handlers = new Handlers({
      ...{ backend, accounts, admission, logger: log.logger, ...handlers },
      serveMetrics: config.metricsPort === 0,
      machine: { dataDir: config.dataDir, certificateEndMs: () => this.#tls?.endMs },
      tracing,
      area: mode === 'off' ? undefined : (server) => this.#adminArea(mode, server, options),
    })
    const notice = (text: string) => log.logger.notice(text)
    this.#watch = new CertificateWatch({
      files: () => tlsFiles(this.#config),
      use: (content) => {
        if (content.cert === this.#tls?.cert && content.key === this.#tls.key) return
        this.#show(content)
        notice(`The certificate was renewed: ${untilText(content)}`)
      },
      notice: (text) => log.logger.warn(text),
    })
  }

  #adminArea(
    mode: AdminMode,
    server: PostContext,
    { config, backend, accounts, modelAdmin, pulls, settings }: FrontOptions,
  ): AdminArea {
    const { dataDir } = config
    const facts = () => ({
      ...{ version: packageVersion(), dataDir, state: backend.state() },
      transport: this.#servers[0]?.by ?? '',
      addresses: this.#addresses,
      availableBytes: availableMemory(),
    })
    const tls = config.tlsCert !== ''
    const models = modelAdmin
    return new AdminArea({ mode, tls, accounts, settings, facts, models, pulls }, server, backend)
  }

  /** The API's address. */
  get url(): string {
    return this.#addresses[0]!
  }

  /** The API's address on this machine; of a container, where its port is published. */
  get urlHere(): string {
    if (!isEvery(this.#config.host)) return this.url
    return `${this.url.split('//')[0]}//localhost:${this.#servers[0]!.port}`
  }

  /** The console's address, by which it can be reached; undefined if there is none. */
  get consoleUrl(): string | undefined {
    if (!this.#handlers.hasConsole) return undefined
    const { admin, host } = this.#config
    if (admin === 'on' || host === 'localhost' || isLoopback(host)) return this.url
    return isEvery(host) ? this.urlHere : undefined
  }

  /**
   * Applies other settings, or other models, from the next request on.
   *
   * @throws {@link OiError} `ERR_CONFIG`; nothing has changed then.
   */
  adjust(config: Config, models: readonly ModelConfig[]): void {
    const { handlers, places } = this.#live(config, models)
    this.#handlers.adjust(handlers)
    this.#admission.adjust(places)
  }

  /**
   * As {@link adjust}, with the certificate read again, for new connections.
   *
   * @throws {@link OiError} `ERR_CONFIG`; nothing has changed then.
   */
  renew(config: Config, models: readonly ModelConfig[]): void {
    const files = tlsFiles(config)
    const tls = files && readTls(files)
    this.adjust(config, models)
    this.#config = config
    if (tls !== undefined) this.#show(tls)
  }

  beginDrain(): void {
    this.#handlers.beginDrain()
  }

  /** Closes one server after another: the metrics can be read while running requests finish. */
  async close(graceMs: number): Promise<void> {
    this.#watch.stop()
    for (const server of this.#servers) await server.close(graceMs)
    this.#shared?.close()
  }

  #show(tls: TlsContent): void {
    this.#tls = tls
    for (const server of this.#servers) server.useTls(tls)
  }

  async #listen({ config, log }: FrontOptions): Promise<void> {
    const { host, port, metricsHost, metricsPort } = config
    const { transport, idleTimeoutMs, proxyProtocol } = config
    const tls = this.#tls
    const scheme = tls === undefined ? 'http' : 'https'
    if (tls !== undefined && tls.endMs < Date.now()) {
      log.logger.warn(`The certificate has expired: ${untilText(tls)}`)
    }
    const server = await Server.listen({
      ...{ handlers: this.#handlers, host, port, tls, transport, idleTimeoutMs, proxyProtocol },
    })
    this.#servers.push(server)
    this.#addresses.push(`${scheme}://${reachable(host)}:${server.port}`)
    log.say(`Listening on ${this.url} (${server.by})\n`)
    if (config.admin === 'on' && tls === undefined) {
      log.logger.warn(
        'The console and its password are reached without TLS: set --tls-cert, or let only a proxy with TLS reach this address',
      )
    }
    if (config.admin === 'loopback' && this.#handlers.hasConsole && this.consoleUrl === undefined) {
      log.say(
        `No browser reaches the console on ${host}: --admin loopback means this machine alone, by localhost\n`,
      )
    }
    if (config.anonymous === 'loopback') {
      log.say(
        'Programs of this machine need no key; nor does anybody whom a proxy or a tunnel on it lets through without X-Forwarded-For\n',
      )
    }
    if (metricsPort === 0) return
    const place = { host: metricsHost, port: metricsPort, tls, transport: 'node' as const }
    const metrics = { handlers: new MetricsHandlers(this.#handlers), flagPrefix: '--metrics-' }
    this.#servers.push(await Server.listen({ ...metrics, ...place }))
    const metricsUrl = `${scheme}://${reachable(metricsHost)}:${metricsPort}/metrics`
    this.#addresses.push(metricsUrl)
    log.say(`Metrics on ${metricsUrl}\n`)
  }

  #live(config: Config, models: readonly ModelConfig[]): Live {
    const {
      maxReplyBytes,
      maxQuestions,
      deadlineMs,
      batchDeadlineMs,
      idempotencyHours,
      placeWaitMs,
    } = config
    return {
      handlers: {
        wire: this.#createWire(config),
        ...{ maxReplyBytes, maxQuestions, deadlineMs, batchDeadlineMs, idempotencyHours },
        maxBodyBytes: bodyLimit(config, models),
        maxBodiesBytes: config.maxBodiesMb * 2 ** 20,
        cors: createCors(config.corsOrigins),
        anonymous: config.anonymous === 'loopback',
        shareStates: config.shareStates,
        trustedProxies: createTrustedProxies(config.trustedProxies),
      },
      // As many as the smallest queue takes: waiting for a place is fair between workspaces.
      places: { places: Math.min(...models.map(queuedAtMost)), placeWaitMs },
    }
  }
}

function sharedLimits({ limits: url }: Config, { logger }: ServerLog): SharedLimits | undefined {
  if (url === '') return undefined
  // Without user and password.
  const store = url.replace(/\/\/.*@/, '//')
  const onChange = (up: boolean, why: string) => {
    if (up) logger.notice(`Limits are kept with other nodes, in ${store}`)
    else logger.warn(`Limits are kept by this node alone: ${store} does not answer (${why})`)
  }
  return new SharedLimits({ url, onChange })
}

function queuedAtMost(model: ModelConfig): number {
  return model.maxQueued * replicaDevices(model).length
}

function tlsFiles({ tlsCert, tlsKey }: Config): TlsFiles | undefined {
  return tlsCert === '' ? undefined : { certFile: tlsCert, keyFile: tlsKey }
}

const untilText = ({ endMs }: TlsContent) => `it ends on ${new Date(endMs).toISOString()}`

const isEvery = (host: string) => host === '0.0.0.0' || host === '::'

/** The host for a URL of a server that listens on `host`: of all addresses, one for other machines. */
function reachable(host: string): string {
  if (isEvery(host)) return outerAddress()
  return host.includes(':') ? `[${host}]` : host
}

function outerAddress(): string {
  try {
    const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
    const outer = all.find(({ family, internal }) => family === 'IPv4' && !internal)
    return outer?.address ?? 'localhost'
  } catch {
    // A service that may not ask the kernel for them, as systemd's RestrictAddressFamilies has it.
    return hostname()
  }
}
