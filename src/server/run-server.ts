/**
 * The life of a server: it listens at once, loads its models, serves until a signal, and finishes
 * its requests.
 *
 * @module
 */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Accounts } from '../accounts/accounts.js'
import { requireWhole } from '../accounts/store/database.js'
import { modelOperations } from '../admin/socket/operations.js'
import { AdminServer } from '../admin/socket/server.js'
import { shellArgument } from '../api/words.js'
import { type Config, laterModel, type ModelConfig, reportSettings } from '../config.js'
import { CrashReports } from '../runner/crash-report.js'
import { auditedModels } from '../admin/audited-models.js'
import { commandActor } from '../accounts/command-actor.js'
import type { Dependencies } from './dependencies.js'
import { Front } from './front.js'
import { KeptModels } from './models/kept-models.js'
import { createModelAdmin } from './models/model-admin.js'
import { ModelChanges } from './models/model-changes.js'
import { ModelSlots } from './models/model-slots.js'
import { ModelWatch } from './models/model-watch.js'
import { createPulls } from './models/pulls.js'
import { modelsToOpen, withFiles } from '../opening/models-to-open.js'
import { createProgress } from '../terminal/progress.js'
import { runnerEvents } from './runner-events.js'
import { accountsOf } from './accounts-of.js'
import type { ServerLog } from './server-log.js'
import { ServiceManager } from './service-manager.js'
import { SettingsReload } from './settings-reload.js'
import { listenForStop } from '../terminal/signals.js'
import { startPatiently } from '../accounts/patiently.js'
import { createTracing } from './tracing.js'
import { consoleLine, welcome } from './welcome.js'

/** Time to export the spans of the last requests, milliseconds. */
const lastSpansMs = 1000

/** Serves until a signal. @param read - Reads the settings, again at SIGHUP. */
export async function runServer(
  read: () => Config,
  config: Config,
  dependencies: Dependencies,
  log: ServerLog,
): Promise<void> {
  const { environment, exit, createWire } = dependencies
  const { dataDir } = config
  const models = modelsToOpen(config)
  const notice = (text: string) => log.logger.notice(text)
  const leaveOut = ({ name }: Pick<ModelConfig, 'name'>, error: unknown) => {
    const remedy = `oi models keep --off ${shellArgument(name!)} forgets it`
    log.logger.warn(
      `The model ${name} is kept, but not loaded: ${(error as Error).message} (${remedy})`,
    )
  }
  let onHangup = () => {}
  const signals = listenForStop(exit, { onHangup: () => onHangup() })
  const warn = (text: string) => log.logger.warn(text)
  const manager = new ServiceManager({ environment, warn })
  const openAccounts = () => {
    if (config.accounts === '') requireWhole(dataDir)
    return new Accounts({ ...accountsOf(config), busyMs: 0, log: warn })
  }
  manager.starting('Opening the accounts')
  const accounts = await startPatiently(openAccounts, warn, signals.first)
  const slots = new ModelSlots()
  const changes = createChanges(slots, config, dependencies, log, manager)
  const watch = new ModelWatch({ slots, changes, warn })
  const ends: (() => void | Promise<void>)[] = [
    () => watch.stop(),
    () => slots.close(),
    () => accounts.close(),
    () => manager.dispose(),
  ]
  try {
    const tracing = createTracing(config, warn)
    let current = () => config
    const settingsOf = (...named: [string, Parameters<typeof laterModel>[2]]) =>
      withFiles(laterModel(current(), ...named), current())
    const kept = await KeptModels.read(dataDir)
    const more = kept.models.flatMap((model) => {
      if (models.some(({ name, file }) => name === model.name || file === model.file)) return []
      const { file, settings, name, aliases, default: isDefault } = model
      try {
        return [{ ...settingsOf(file, settings), name, aliases, default: isDefault }]
      } catch (error) {
        leaveOut({ name }, error)
        return []
      }
    })
    let settingsModels = () => models
    const modelAdmin = createModelAdmin({
      ...{ slots, changes, kept, settingsOf },
      settingsModels: () => settingsModels(),
    })
    const pulls = createPulls({ config: () => current(), environment, slots, warn })
    const settings = () => reportSettings(current())
    const front = await Front.listen({
      ...{
        config,
        models: [...models, ...more],
        backend: slots,
        accounts,
        log,
        createWire,
        modelAdmin,
        pulls,
        settings,
      },
      tracing,
    })
    ends.unshift(
      () => front.close(0),
      () => tracing?.exporter.close(lastSpansMs),
    )
    const reload = new SettingsReload({
      config,
      models,
      read,
      front,
      log,
      slots,
      changes,
      notice,
      warn,
    })
    current = () => reload.config
    settingsModels = () => reload.models
    const operations = {
      ...modelOperations(auditedModels(modelAdmin, accounts.administer(commandActor()))),
      'settings.list': () => Promise.resolve(settings()),
    }
    const admin = await AdminServer.listen({ dataDir, operations, notice: warn })
    ends.unshift(() => admin.close())
    slots.onChange = () => {
      front.adjust(reload.config, [...slots.asked().values()])
      manager.status(serving(slots))
    }
    onHangup = () => {
      manager.reloading()
      void reload.run().then(() => slots.state() === 'ready' && manager.ready(serving(slots)))
    }
    const loaded = changes
      .open(models, { models: more, onLeftOut: leaveOut })
      .then(async (opened) => {
        // Last: the key is shown once, and a start that fails on the port or the model must not use
        // that up.
        const createKey = () => accounts.createFirstKey()
        const first = await startPatiently(createKey, warn, signals.first)
        if (first !== undefined) log.show(welcome(front.urlHere, first.secret))
        const { consoleUrl } = front
        if (consoleUrl !== undefined) {
          const createLink = () => accounts.admin.createLink()
          const token = await startPatiently(createLink, warn, signals.first)
          log.show(consoleLine(consoleUrl, token))
        }
        for (const { startLine, warning } of opened) {
          log.say(`${startLine}\n${warning === undefined ? '' : `${warning}\n`}`)
        }
        log.say('Ready\n')
        manager.ready(serving(slots))
      })
    // Whichever comes first: a signal, or a failure to load. Successful loading ends nothing.
    const signal = await Promise.race([signals.first, loaded.then(() => signals.first)])
    log.say('Stopping\n')
    manager.stopping()
    const { drainMs, graceMs } = reload.config
    // The user waits after Ctrl-C, and no balancer sends requests before the server is ready.
    if (signal !== 'SIGINT' && slots.state() === 'ready' && drainMs > 0) {
      front.beginDrain()
      await sleep(drainMs)
    }
    await front.close(graceMs)
  } finally {
    for (const end of ends) await end()
    signals.dispose()
  }
}

function createChanges(
  slots: ModelSlots,
  { inProcess, dataDir }: Config,
  dependencies: Dependencies,
  log: ServerLog,
  manager: ServiceManager,
): ModelChanges {
  const reports = new CrashReports(join(dataDir, 'crashes'))
  return new ModelChanges({
    slots,
    say: (text) => log.say(text),
    surveyModel: (model) => dependencies.surveyModel(model, !inProcess),
    openModel: async ({ name, config }, what, onProgress) => {
      const isolate = inProcess ? undefined : runnerEvents(name, reports, log)
      const label = `Loading ${what}`
      if (slots.state() === 'loading') manager.starting(label)
      const progress = createProgress(label, (line) => log.tell(line))
      try {
        return await dependencies.openModel(config, {
          onProgress: (fraction) => {
            progress.update(fraction)
            onProgress(fraction)
          },
          isolate,
        })
      } finally {
        progress.stop()
      }
    },
  })
}

/** The status for the service manager. */
const serving = (slots: ModelSlots) => `Serving ${[...slots.asked().keys()].join(', ')}`
