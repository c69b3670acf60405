/**
 * Where the value of each setting was given.
 *
 * @module
 */

import { readConfigFile } from './file.js'
import { type ConfigName, settings } from './settings.js'
import type { Values } from './check.js'

export type SettingOrigin = 'default' | 'file' | 'environment' | 'flag'

/**
 * @param environment - As `readConfig` was given it; so are the flags.
 * @param flags - Those that were given, by name.
 * @param file - The settings file that was read; `''`: none.
 * @throws {@link OiError} `ERR_CONFIG` if the file cannot be read any more.
 */
export function settingOrigins(
  environment: Values,
  flags: Values,
  file: string,
): Readonly<Record<ConfigName, SettingOrigin>> {
  const inFile = file === '' ? {} : readConfigFile(file).values
  const origins = settings.map(({ name, variable }) => {
    if (flags[name] !== undefined) return [name, 'flag'] as const
    if (environment[variable] !== undefined) return [name, 'environment'] as const
    return [name, name in inFile ? ('file' as const) : ('default' as const)] as const
  })
  return Object.fromEntries(origins) as Record<ConfigName, SettingOrigin>
}
