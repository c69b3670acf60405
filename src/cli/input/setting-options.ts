/**
 * Settings as command-line options.
 *
 * @module
 */

import { type Command, Option } from 'commander'
import { type ConfigName, type Setting, settings } from '../../config.js'

/** Adds the options of the named settings, or of all. Values stay text: readConfig checks them. */
export function addSettings(command: Command, names?: readonly ConfigName[]): Command {
  for (const setting of settings) {
    if (names !== undefined && !names.includes(setting.name)) continue
    const { flag, shortcut, variable, description, unit, default: standard } = setting
    const flags = shortcut === undefined ? flag : `${shortcut}, ${flag}`
    const what = unit === undefined ? description : `${description}, ${unit}`
    const facts = standard === '' ? variable : `${variable}, default: ${standard}`
    command.addOption(new Option(`${flags}${argumentOf(setting)}`, `${what} (${facts})`))
  }
  return command
}

function argumentOf({ default: standard, placeholder = 'n' }: Setting): string {
  return typeof standard === 'boolean' ? '' : ` <${placeholder}>`
}
