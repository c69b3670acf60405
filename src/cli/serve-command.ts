/**
 * `oi serve`: listens at once, loads the model, serves until a signal.
 *
 * @module
 */

import type { Command } from 'commander'
import { Accounts } from '../accounts/accounts.js'
import { type Config, readConfig } from '../config.js'
import { OiError } from '../errors.js'
import { type Backend, Handlers } from '../http/handlers.js'
import { createLogger } from '../http/logger.js'
import type { Server } from '../http/server.js'
import { type Dependencies, exitCodes, type OpenedModel } from './dependencies.js'
import { createProgress } from './progress.js'
import { requireModel } from './require-model.js'
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
    .description('serve a model over HTTP')
    .addHelpText(
      'after',
      '\nA first start on an empty data folder makes a workspace and a key, and shows the key once.' +
        '\nSIGINT or SIGTERM lets running requests finish; a second one stops at once.',
    )
  addSettings(serve).action(async (flags: Record<string, string>) => {
    const config = readConfig(dependencies.environment, flags)
    done(await runServer(requireModel(config, dependencies), dependencies))
  })
}

/** A model that may still be on its way. */
class ModelSlot implements Backend {
  #state: ReturnType<Backend['state']> = 'loading'
  #model: OpenedModel | undefined

  state() {
    return this.#state
  }

  decider() {
    return this.#model?.decider
  }

  async open(opening: Promise<OpenedModel>): Promise<OpenedModel> {
    try {
      this.#model = await opening
      if (this.#state === 'loading') this.#state = 'ready'
      return this.#model
    } catch (error) {
      this.#state = 'failed'
      throw error
    }
  }

  /** Waits for the model's own end, but not for one that is still being loaded. */
  async close(): Promise<void> {
    this.#state = 'closing'
    await this.#model?.close()
  }
}

async function runServer(config: Config, dependencies: Dependencies): Promise<number> {
  const accounts = new Accounts({ dataDir: config.dataDir, busyMs })
  const slot = new ModelSlot()
  const signals = listenForStop(() => dependencies.exit(exitCodes.failure))
  let server: Server | undefined
  try {
    const listening = await listen(config, dependencies, accounts, slot)
    server = listening.server
    const loaded = slot.open(load(config, dependencies)).then((model) => {
      // Last: a start that fails on the port or the model must not use up the one showing.
      const first = accounts.createFirstKey()
      if (first !== undefined) process.stdout.write(welcome(listening.url, first.secret))
      const lines = [model.startLine, model.warning, 'Ready'].filter((line) => line !== undefined)
      process.stdout.write(`${lines.join('\n')}\n`)
    })
    // Whichever comes first: a signal, or the failure to load. Loading by itself ends nothing.
    await Promise.race([signals.first, loaded.then(() => signals.first)])
    process.stdout.write('Stopping\n')
    await server.close(config.graceMs)
    return exitCodes.ok
  } finally {
    await server?.close(0)
    await slot.close()
    accounts.close()
    signals.dispose()
  }
}

async function listen(
  config: Config,
  dependencies: Dependencies,
  accounts: Accounts,
  backend: Backend,
): Promise<{ server: Server; url: string }> {
  const { host, port, maxBodyBytes, deadlineMs } = config
  const handlers = new Handlers({
    backend,
    accounts,
    wire: dependencies.createWire(config),
    logger: createLogger(config.log === 'requests'),
    maxBodyBytes,
    deadlineMs,
  })
  const server = await (await loadServer()).listen({ handlers, host, port })
  const url = `http://${reachable(host)}:${server.port}`
  process.stdout.write(`Listening on ${url}\n`)
  return { server, url }
}

/** Loaded late: without a binary for this system, the other commands still work. */
async function loadServer(): Promise<typeof Server> {
  try {
    return (await import('../http/server.js')).Server
  } catch (cause) {
    throw new OiError(
      'ERR_LISTEN',
      `uWebSockets.js cannot be loaded: ${(cause as Error).message.split('\n').at(-1)}\n` +
        'Its Linux binaries need glibc, 2.38 or newer with Node 22 and later; Node 20 does with less.',
      { cause },
    )
  }
}

async function load(config: Config, { openModel }: Dependencies): Promise<OpenedModel> {
  const progress = createProgress('Loading the model', process.stderr)
  try {
    return await openModel(config, (fraction) => progress.update(fraction))
  } finally {
    progress.stop()
  }
}

/** The host of a URL that leads to a server listening on `host`. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
