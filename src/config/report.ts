/**
 * What the settings are, and where each value comes from: for commands, the admin API and the
 * console.
 *
 * @module
 */

import type { Config } from '../config.js'
import type { Setting } from './settings.js'
import { settings } from './settings.js'

/** What said a value last; `default`: nothing did. */
export type Origin = 'default' | 'file' | 'environment' | 'flag'

/** A setting as it stands. */
export interface SettingReport extends Pick<
  Setting,
  'name' | 'flag' | 'variable' | 'description' | 'default' | 'unit' | 'live'
> {
  /** Of a secret, a row of dots. */
  readonly value: string | number | boolean
  readonly origin: Origin
}

const hidden = '…'

/** Every setting, in the order of the table. */
export function reportSettings(config: Config): SettingReport[] {
  return settings.map(({ name, flag, variable, description, unit, live, secret, ...setting }) => {
    const isHidden = secret === true && config[name] !== ''
    return {
      name,
      value: isHidden ? hidden : config[name],
      origin: config.origins[name],
      default: setting.default,
      ...(unit !== undefined && { unit }),
      ...{ live, flag, variable, description },
    }
  })
}
