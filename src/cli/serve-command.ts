/**
 * `oi serve`: listens at once, loads the models, serves until a signal.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { Accounts } from '../accounts/accounts.js'
import { type Config, type ModelConfig, readConfig } from '../config.js'
import { createTrustedProxies } from '../http/client-address.js'
import { createCors } from '../http/cors.js'
import { type Backend, Handlers } from '../http/handlers.js'
import { MetricsHandlers } from '../http/metrics-handlers.js'
import { Server } from '../http/server.js'
import { WorkspaceGate } from '../http/workspace-gate.js'
import { bodyLimit } from './body-limit.js'
import { type Dependencies, exitCodes, type OpenedModel } from './dependencies.js'
import { ModelSlots } from './model-slots.js'
import { planModels } from './plan-models.js'
import { createProgress } from './progress.js'
import { modelsToOpen } from './models-to-open.js'
import { ServerLog } from './server-log.js'
import { addSettings } from './setting-options.js'
import { listenForStop } from './signals.js'
import { startPatiently } from './start-patiently.js'
import { welcome } from './welcome.js'

export function addServeCommand(
  program: Command,
  dependencies: Dependencies,
  done: (code: number) => void,
): void {
  const serve = program
    .command('serve')
    .description('serve models over HTTP')
    .addHelpText(
      'after',
      '\nA first start on an empty data folder makes a workspace and a key, and shows the key once.' +
        '\nSIGTERM: /readyz says 503 for --drain-ms while everything else is answered, then running' +
        '\nrequests have --grace-ms to finish. SIGINT (Ctrl-C): the same without --drain-ms. A second' +
        '\none stops at once. SIGHUP is ignored unless the terminal is gone, which is as SIGTERM.' +
        '\nExit codes: 0 stopped as asked, 130 or 143 at once by a second SIGINT or SIGTERM.',
    )
  addSettings(serve).action(async (flags: Record<string, string | boolean>) => {
    const config = readConfig(dependencies.environment, flags)
    const log = new ServerLog(config.log === 'requests')
    try {
      const models = modelsToOpen(config)
      const maxBodyBytes = bodyLimit(config, models)
      await runServer({ ...config, maxBodyBytes }, models, dependencies, log)
      done(exitCodes.ok)
    } finally {
      await log.close()
    }
  })
}

/** Serves until a signal. */
async function runServer(
  config: Config,
  models: readonly ModelConfig[],
  dependencies: Dependencies,
  log: ServerLog,
): Promise<void> {
  const signals = listenForStop(dependencies.exit, { hangups: true })
  const { dataDir } = config
  const notice = (text: string) => log.logger.notice(text)
  const openAccounts = () => new Accounts({ dataDir, busyMs: 0, log: notice })
  const accounts = await startPatiently(openAccounts, notice, signals.first)
  const slots = new ModelSlots()
  const listeners: Listeners = { servers: [], url: '' }
  try {
    const handlers = await listen(listeners, config, dependencies, { accounts, slots, log })
    const loaded = load(models, slots, dependencies, log).then(async (opened) => {
      // Last: a start that fails on the port or the model must not use up the one showing.
      const createKey = () => accounts.createFirstKey()
      const first = await startPatiently(createKey, notice, signals.first)
      if (first !== undefined) log.say(welcome(listeners.url, first.secret))
      for (const { startLine, warning } of opened) {
        log.say(`${startLine}\n${warning === undefined ? '' : `${warning}\n`}`)
      }
      log.say('Ready\n')
    })
    // Whichever comes first: a signal, or the failure to load. Loading by itself ends nothing.
    const signal = await Promise.race([signals.first, loaded.then(() => signals.first)])
    log.say('Stopping\n')
    // Whoever pressed Ctrl-C waits, and no balancer sends requests before it was ready.
    const isDraining = signal !== 'SIGINT' && slots.state() === 'ready' && config.drainMs > 0
    if (isDraining) {
      handlers.beginDrain()
      await sleep(config.drainMs)
    }
    // One after another: the metrics can be read while running requests finish.
    for (const server of listeners.servers) await server.close(config.graceMs)
  } finally {
    for (const server of listeners.servers) await server.close(0)
    await slots.close()
    accounts.close()
    signals.dispose()
  }
}

interface Listeners {
  /** The API first. */
  readonly servers: Server[]
  /** The API's address. */
  url: string
}

interface Served {
  readonly accounts: Accounts
  readonly slots: Backend
  readonly log: ServerLog
}

/** Adds what listens to `listeners`. @returns What is done with requests. */
async function listen(
  listeners: Listeners,
  config: Config,
  dependencies: Dependencies,
  { accounts, slots, log }: Served,
): Promise<Handlers> {
  const { host, port, metricsHost, metricsPort, placeWaitMs } = config
  const { maxBodyBytes, maxReplyBytes, maxQuestions, deadlineMs, batchDeadlineMs } = config
  // As many as the queue of every model takes: waiting for a place is fair between workspaces.
  const places = Math.min(...modelsToOpen(config).map(({ maxQueued }) => maxQueued))
  const tls =
    config.tlsCert === '' ? undefined : { certFile: config.tlsCert, keyFile: config.tlsKey }
  const scheme = tls === undefined ? 'http' : 'https'
  const handlers = new Handlers({
    backend: slots,
    accounts,
    gate: new WorkspaceGate({ accounts, places, placeWaitMs }),
    wire: dependencies.createWire(config),
    logger: log.logger,
    ...{ maxBodyBytes, maxReplyBytes, maxQuestions, deadlineMs, batchDeadlineMs },
    maxBodiesBytes: config.maxBodiesMb * 2 ** 20,
    cors: createCors(config.corsOrigins),
    trustedProxies: createTrustedProxies(config.trustedProxies),
    serveMetrics: metricsPort === 0,
  })
  const { transport, idleTimeoutMs, proxyProtocol } = config
  const server = await Server.listen({
    ...{ handlers, host, port, tls, transport, idleTimeoutMs, proxyProtocol },
  })
  listeners.servers.push(server)
  listeners.url = `${scheme}://${reachable(host)}:${server.port}`
  log.say(`Listening on ${listeners.url} (${server.by})\n`)
  if (metricsPort !== 0) {
    const place = { host: metricsHost, port: metricsPort, tls, transport: 'node' as const }
    const metrics = { handlers: new MetricsHandlers(handlers), flagPrefix: '--metrics-' }
    listeners.servers.push(await Server.listen({ ...metrics, ...place }))
    log.say(`Metrics on ${scheme}://${reachable(metricsHost)}:${metricsPort}/metrics\n`)
  }
  return handlers
}

async function load(
  models: readonly ModelConfig[],
  slots: ModelSlots,
  dependencies: Dependencies,
  log: ServerLog,
): Promise<readonly OpenedModel[]> {
  const planned = await planModels(models, dependencies, (text) => log.say(text))
  return slots.open(
    planned.map(({ name, config }, i) => async () => {
      const what = planned.length === 1 ? 'the model' : `${name} (${i + 1} of ${planned.length})`
      const progress = createProgress(`Loading ${what}`, (line) => log.warn(line))
      try {
        return await dependencies.openModel(config, (fraction) => progress.update(fraction))
      } finally {
        progress.stop()
      }
    }),
  )
}

/** The host of a URL that leads to a server listening on `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
