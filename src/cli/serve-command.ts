/**
 * `oi serve`: listens at once, loads the models, serves until a signal.
 *
 * @module
 */

import type { Command } from 'commander'
import { Accounts } from '../accounts/accounts.js'
import { type Config, type ModelConfig, readConfig } from '../config.js'
import { createTrustedProxies } from '../http/client-address.js'
import { createCors } from '../http/cors.js'
import { type Backend, Handlers } from '../http/handlers.js'
import { createLogger } from '../http/logger.js'
import { MetricsHandlers } from '../http/metrics-handlers.js'
import { Server } from '../http/server.js'
import { WorkspaceGate } from '../http/workspace-gate.js'
import { bodyLimit } from './body-limit.js'
import { type Dependencies, exitCodes, type OpenedModel } from './dependencies.js'
import { ModelSlots } from './model-slots.js'
import { planModels } from './plan-models.js'
import { createProgress } from './progress.js'
import { modelsToOpen } from './models-to-open.js'
import { addSettings } from './setting-options.js'
import { listenForStop } from './signals.js'
import { welcome } from './welcome.js'

/**
 * How long a request may wait for another process' write to the accounts. Short: the wait stops
 * all other requests too.
 */
const busyMs = 250

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
        '\nSIGINT or SIGTERM lets running requests finish; a second one stops at once.',
    )
  addSettings(serve).action(async (flags: Record<string, string | boolean>) => {
    const config = readConfig(dependencies.environment, flags)
    const models = modelsToOpen(config)
    const maxBodyBytes = bodyLimit(config, models)
    done(await runServer({ ...config, maxBodyBytes }, models, dependencies))
  })
}

async function runServer(
  config: Config,
  models: readonly ModelConfig[],
  dependencies: Dependencies,
): Promise<number> {
  const accounts = new Accounts({ dataDir: config.dataDir, busyMs })
  const slots = new ModelSlots()
  const signals = listenForStop(() => dependencies.exit(exitCodes.failure))
  const servers: Server[] = []
  try {
    const url = await listen(servers, config, dependencies, accounts, slots)
    const loaded = load(models, slots, dependencies).then((opened) => {
      // Last: a start that fails on the port or the model must not use up the one showing.
      const first = accounts.createFirstKey()
      if (first !== undefined) process.stdout.write(welcome(url, first.secret))
      for (const { startLine, warning } of opened) {
        process.stdout.write(`${startLine}\n${warning === undefined ? '' : `${warning}\n`}`)
      }
      process.stdout.write('Ready\n')
    })
    // Whichever comes first: a signal, or the failure to load. Loading by itself ends nothing.
    await Promise.race([signals.first, loaded.then(() => signals.first)])
    process.stdout.write('Stopping\n')
    // One after another: the metrics can be read while running requests finish.
    for (const server of servers) await server.close(config.graceMs)
    return exitCodes.ok
  } finally {
    for (const server of servers) await server.close(0)
    await slots.close()
    accounts.close()
    signals.dispose()
  }
}

/** Adds what listens to `servers`, the API first. @returns The API's address. */
async function listen(
  servers: Server[],
  config: Config,
  dependencies: Dependencies,
  accounts: Accounts,
  backend: Backend,
): Promise<string> {
  const { host, port, metricsHost, metricsPort, maxBodyBytes, deadlineMs } = config
  const tls =
    config.tlsCert === '' ? undefined : { certFile: config.tlsCert, keyFile: config.tlsKey }
  const scheme = tls === undefined ? 'http' : 'https'
  const handlers = new Handlers({
    backend,
    accounts,
    gate: new WorkspaceGate({ accounts }),
    wire: dependencies.createWire(config),
    logger: createLogger(config.log === 'requests'),
    maxBodyBytes,
    deadlineMs,
    cors: createCors(config.corsOrigins),
    trustedProxies: createTrustedProxies(config.trustedProxies),
    serveMetrics: metricsPort === 0,
  })
  const { transport, idleTimeoutMs, proxyProtocol } = config
  const server = await Server.listen({
    ...{ handlers, host, port, tls, transport, idleTimeoutMs, proxyProtocol },
  })
  servers.push(server)
  const url = `${scheme}://${reachable(host)}:${server.port}`
  process.stdout.write(`Listening on ${url}\n`)
  if (metricsPort !== 0) {
    const place = { host: metricsHost, port: metricsPort, tls, transport: 'node' as const }
    const metrics = { handlers: new MetricsHandlers(handlers), flagPrefix: '--metrics-' }
    servers.push(await Server.listen({ ...metrics, ...place }))
    process.stdout.write(
      `Metrics on ${scheme}://${reachable(metricsHost)}:${metricsPort}/metrics\n`,
    )
  }
  return url
}

async function load(
  models: readonly ModelConfig[],
  slots: ModelSlots,
  dependencies: Dependencies,
): Promise<readonly OpenedModel[]> {
  const planned = await planModels(models, dependencies)
  return slots.open(
    planned.map(({ name, config }, i) => async () => {
      const what = planned.length === 1 ? 'the model' : `${name} (${i + 1} of ${planned.length})`
      const progress = createProgress(`Loading ${what}`, process.stderr)
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
