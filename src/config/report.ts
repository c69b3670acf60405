/**
 * The settings with their values and origins: for commands, the admin API and the console.
 *
 * @module
 */

import type { Config } from '../config.js'
import type { Setting } from './settings.js'
import { settings } from './settings.js'

/** The source whose value won. */
export type Origin = 'default' | 'file' | 'environment' | 'flag'

/** A setting with its present value. */
export interface SettingReport extends Pick<
  Setting,
  'name' | 'flag' | 'variable' | 'description' | 'default' | 'unit' | 'live'
> {
  /** A secret is shown as dots. */
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
