/**
 * SIGHUP: reads the settings and the files that they name again.
 *
 * Rules
 *   1. A mistake in the settings or in a certificate changes nothing, and is reported.
 *   2. Live settings take effect from the next request on; the others are named.
 *   3. What is no file is not opened: a FIFO would be waited for.
 *   4. Keys, workspaces and prices are in the accounts, where every change takes effect at once.
 *
 * @module
 */

import { type Config, type ConfigName, type ModelConfig, settings } from '../config.js'
import { requireFile } from '../open-input.js'
import type { Front } from './front.js'
import { InTurn } from '../in-turn.js'
import { applyModels, type ModelAdminOptions } from './models/model-admin.js'
import { modelsToOpen } from '../opening/models-to-open.js'
import type { ServerLog } from './server-log.js'

interface SettingsReloadOptions extends Pick<ModelAdminOptions, 'slots' | 'changes'> {
  readonly config: Config
  /** The models by these settings. */
  readonly models: readonly ModelConfig[]
  /** @throws {@link OiError} `ERR_CONFIG`. */
  readonly read: () => Config
  readonly front: Front
  readonly log: Pick<ServerLog, 'adjust'>
  /** Takes a sentence for the operator. */
  readonly notice: (text: string) => void
  /** The same for what has failed. */
  readonly warn: (text: string) => void
}

export class SettingsReload {
  readonly #options: SettingsReloadOptions
  readonly #turns = new InTurn()
  #config: Config
  #models: readonly ModelConfig[]

  constructor(options: SettingsReloadOptions) {
    this.#options = options
    this.#config = options.config
    this.#models = options.models
  }

  /** The settings in effect. */
  get config(): Config {
    return this.#config
  }

  /** The models by the settings in effect. */
  get models(): readonly ModelConfig[] {
    return this.#models
  }

  /** Reads the settings again, and applies them. Never rejects. */
  run(): Promise<void> {
    return this.#turns.run(async () => {
      const { front, log, notice, warn, slots, changes } = this.#options
      const before = this.#config
      const modelsBefore = this.#models
      let read: Config
      let changed: Changed
      try {
        // Rule 3.
        await requireFile(before.config, 'ERR_CONFIG')
        read = this.#options.read()
        for (const file of [read.tlsCert, read.tlsKey]) await requireFile(file, 'ERR_CONFIG')
        changed = compare(before, read)
        this.#config = { ...read, ...changed.kept }
        this.#models = modelsToOpen(this.#config)
        front.renew(this.#config, [...slots.asked().values()])
        log.adjust(this.#config)
      } catch (error) {
        this.#config = before
        this.#models = modelsBefore
        warn(`SIGHUP: nothing has changed: ${(error as Error).message}`)
        return
      }
      await applyModels({ slots, changes }, modelsBefore, this.#models, (failure) =>
        warn(`SIGHUP: ${failure}`),
      )
      notice(`SIGHUP: the settings have been read again${describe(changed)}`)
    })
  }
}

interface Changed {
  readonly live: readonly ConfigName[]
  /** Settings that only a restart changes. */
  readonly fixed: readonly ConfigName[]
  /** Values that the server keeps, whatever the settings say now. */
  readonly kept: Partial<Config>
}

/** Rule 2. */
function compare(before: Config, after: Config): Changed {
  const changed = settings.filter(({ name }) => before[name] !== after[name])
  // Only a restart turns HTTPS on or off.
  const turned = (before.tlsCert === '') !== (after.tlsCert === '')
  const live = changed.filter((setting) => setting.live && !(turned && isTls(setting.name)))
  const kept = changed.filter((setting) => !live.includes(setting)).map(({ name }) => name)
  const asBefore = (from: Config | Config['origins']) =>
    Object.fromEntries(kept.map((name) => [name, from[name]]))
  return {
    live: live.map(({ name }) => name),
    fixed: kept,
    kept: { ...asBefore(before), origins: { ...after.origins, ...asBefore(before.origins) } },
  }
}

const isTls = (name: ConfigName) => name === 'tlsCert' || name === 'tlsKey'

function describe({ live, fixed }: Changed): string {
  const lists = { changed: live, 'only a new start changes': fixed }
  return Object.entries(lists)
    .map(([how, names]) => (names.length === 0 ? '' : `; ${how} ${names.join(', ')}`))
    .join('')
}
