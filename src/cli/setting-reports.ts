/**
 * Every setting of a running server: its value, and where that was given.
 *
 * @module
 */

import { type Config, settings, type settingOrigins } from '../config.js'
import type { SettingReport } from '../http/admin/call.js'

/** What the settings are read from, again at SIGHUP. */
export interface SettingsSource {
  /** @throws {@link OiError} `ERR_CONFIG`. */
  readonly read: () => Config
  /** Where the values of such a reading were given. */
  readonly originsOf: (config: Config) => ReturnType<typeof settingOrigins>
}

/**
 * @param current - The settings that the server goes by now.
 * @returns What tells them; their origins are looked for once for each reading.
 */
export function settingReports(
  current: () => Config,
  originsOf: SettingsSource['originsOf'],
): () => readonly SettingReport[] {
  let known = { config: current(), origins: originsOf(current()) }
  return () => {
    const config = current()
    if (known.config !== config) known = { config, origins: originsOf(config) }
    return settings.map(({ name, flag, variable, description, default: standard }) => ({
      ...{ name, flag, variable, description, default: standard },
      ...{ value: config[name], origin: known.origins[name] },
    }))
  }
}
