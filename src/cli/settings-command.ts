/**
 * `oi settings`: every setting of a future or of the running server, with its origin.
 *
 * @module
 */

import type { Command } from 'commander'
import { askServer } from '../admin/socket/client.js'
import { readConfig, reportSettings, type SettingReport } from '../config.js'
import type { Dependencies } from '../server/dependencies.js'
import { addAllSettings } from './input/setting-options.js'
import { printList, wideFlag } from './output/table.js'

interface Flags {
  readonly running?: boolean
  readonly changed?: boolean
  readonly json?: boolean
  readonly wide?: boolean
  readonly [setting: string]: string | boolean | undefined
}

const columns = {
  setting: ({ name }: SettingReport) => name,
  value: ({ value, unit }: SettingReport) => (unit === undefined ? `${value}` : `${value} ${unit}`),
  from: (setting: SettingReport) => originText(setting),
  default: (setting: SettingReport) => String(setting.default),
}

export function addSettingsCommand(program: Command, dependencies: Dependencies): void {
  const command = program
    .command('settings')
    .description('show every setting with its origin: flag, variable, file or default')
    .option('--running', 'those of the running server of the data folder')
    .option('--changed', 'only those that are not defaults')
    .option('--json', 'JSON for programs')
    .option(...wideFlag)
    .addHelpText('after', '\nWithout --running: as oi serve would have them with the same flags.')
  addAllSettings(command).action(async ({ running, changed, json, wide, ...flags }: Flags) => {
    const config = readConfig(dependencies.environment, flags)
    const all = running
      ? ((await askServer(config.dataDir, 'settings.list', {})) as SettingReport[])
      : reportSettings(config)
    printList(changed ? all.filter(({ origin }) => origin !== 'default') : all, columns, {
      json,
      wide,
    })
  })
}

function originText({ origin, flag, variable }: SettingReport): string {
  if (origin === 'flag') return flag
  return origin === 'environment' ? variable : origin
}
