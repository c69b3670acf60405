/**
 * Settings as command-line options.
 *
 * @module
 */

import { type Command, Option } from 'commander'
import { type ConfigName, settings } from '../config.js'

/** Shorter spellings beside a setting's own flag. */
const shortcuts: Partial<Record<ConfigName, string>> = { dataDir: '--data' }
const placeholders: Partial<Record<ConfigName, string>> = {
  config: 'file',
  model: 'model',
  mmproj: 'file',
  readout: 'file',
  calibration: 'file',
  host: 'address',
  tlsCert: 'file',
  tlsKey: 'file',
  corsOrigins: 'origins',
  metricsHost: 'address',
  dataDir: 'folder',
  modelsDir: 'folder',
  flashAttention: 'kind',
  cacheType: 'type',
  kernels: 'choice',
  orders: 'which',
  diskCacheDir: 'folder',
  log: 'what',
}

/** Adds the options of the named settings, or of all. Values stay text: readConfig checks them. */
export function addSettings(command: Command, names?: readonly ConfigName[]): Command {
  for (const { name, flag, variable, description, default: standard } of settings) {
    if (names !== undefined && !names.includes(name)) continue
    const shortcut = shortcuts[name]
    const flags = shortcut === undefined ? flag : `${shortcut}, ${flag}`
    const facts = standard === '' ? variable : `${variable}, default: ${standard}`
    const argument = typeof standard === 'boolean' ? '' : ` <${placeholders[name] ?? 'n'}>`
    command.addOption(new Option(`${flags}${argument}`, `${description} (${facts})`))
  }
  return command
}
