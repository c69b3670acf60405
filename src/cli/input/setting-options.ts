/**
 * Settings as command-line options.
 *
 * @module
 */

import { type Command, Option } from 'commander'
import { type ConfigName, type Setting, settings } from '../../config.js'
import { settingGroups } from './setting-groups.js'

/** Adds the options of the named settings. Values stay text: readConfig checks them. */
export function addSettings(command: Command, names: readonly ConfigName[]): Command {
  for (const setting of settings) {
    if (names.includes(setting.name)) command.addOption(optionOf(setting))
  }
  return command
}

/** As {@link addSettings}, for all settings, in groups. */
export function addAllSettings(command: Command): Command {
  for (const [heading, names] of Object.entries(settingGroups)) {
    for (const name of names) {
      const setting = settings.find((each) => each.name === name)!
      command.addOption(optionOf(setting).helpGroup(heading))
    }
  }
  return command
}

function optionOf(setting: Setting): Option {
  const { flag, shortcut, variable, description, unit, default: standard } = setting
  const flags = shortcut === undefined ? flag : `${shortcut}, ${flag}`
  const what = unit === undefined ? description : `${description}, ${unit}`
  const facts = standard === '' ? variable : `${variable}, default: ${standard}`
  return new Option(`${flags}${argumentOf(setting)}`, `${what} (${facts})`)
}

function argumentOf({ default: standard, placeholder = 'n' }: Setting): string {
  return typeof standard === 'boolean' ? '' : ` <${placeholder}>`
}
