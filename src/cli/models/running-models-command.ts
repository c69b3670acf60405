/**
 * `oi models load`, `unload`, `reload`, `status`: the models of the running server on a data
 * folder.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { askServer } from '../../admin/socket/client.js'
import type { Input, ModelStatus } from '../../admin/socket/operations.js'
import { absolutePaths, modelSettingNames, readConfig } from '../../config.js'
import { isModelName } from '../../models/pulled-models.js'
import { shellArgument, sizeText } from '../../api/words.js'
import type { Dependencies } from '../../server/dependencies.js'
import { print, printError } from '../../terminal/print.js'
import { addSettings } from '../input/setting-options.js'
import { printList, showTime, wideFlag } from '../output/table.js'
import { together } from '../input/values.js'

interface Flags {
  readonly dataDir?: string
  readonly json?: boolean
  readonly wide?: boolean
}

interface LoadFlags extends Flags {
  readonly name?: string
  readonly alias?: readonly string[]
  readonly default?: boolean
  readonly keep?: boolean
  readonly [setting: string]: unknown
}

const columns = {
  model: (status: ModelStatus) => modelText(status),
  state: ({ state, loaded }: ModelStatus) =>
    loaded === undefined ? state : `${state}, ${Math.floor(100 * loaded)} %`,
  running: ({ underWay }: ModelStatus) => String(underWay),
  memory: ({ processes }: ModelStatus) => memoryText(processes),
  device: ({ device }: ModelStatus) => device ?? '-',
  'since (UTC)': ({ sinceMs }: ModelStatus) => showTime(sinceMs),
  crashes: ({ ends }: ModelStatus) => endsText(ends),
  process: ({ processes }: ModelStatus) => processes.map(({ pid }) => pid).join(' ') || '-',
  retries: ({ askedAgain }: ModelStatus) => String(askedAgain),
}

export function addRunningModelsCommands(models: Command, dependencies: Dependencies): void {
  const ask = async (operation: string, input: Input, { dataDir }: Flags) => {
    const folder = readConfig(dependencies.environment, { dataDir }).dataDir
    const answer = await askServer(folder, operation, input, (progress) =>
      printError(`${progress}\n`),
    )
    return [answer].flat() as ModelStatus[]
  }
  /** Asks the server, and shows the models in its reply. */
  const act = async (operation: string, input: Input, flags: Flags) => {
    const statuses = await ask(operation, input, flags)
    printList(statuses, columns, flags)
    return statuses
  }

  const load = models
    .command('load')
    .description('load one more model into the running server of the data folder')
    .argument('<model>', 'a GGUF file, or the name of a pulled model')
    .option('--name <name>', 'the name that requests use; default: from the file')
    .option('--alias <name>', 'a further name; repeatable', together)
    .option('--default', 'make it the default model')
    .option('--keep', 'load it at every further start, too')
    .option('--json', 'JSON for programs')
    .option(...wideFlag)
    .addHelpText(
      'after',
      '\nSettings that are not given here are the server’s; variables are not read. Without --keep' +
        '\nthe model is gone when the server starts again.',
    )
  addSettings(load, ['dataDir', ...modelSettingNames]).action(
    async (file: string, { name, alias, default: isDefault, keep, ...flags }: LoadFlags) => {
      const given = modelSettingNames.flatMap((setting) =>
        flags[setting] === undefined ? [] : [[setting, flags[setting]] as const],
      )
      // The server's working folder may be another.
      const settings = absolutePaths(process.cwd(), Object.fromEntries(given))
      const isPulled = isModelName(file) && !existsSync(file)
      const path = isPulled ? file : resolve(file)
      const input = { file: path, name, aliases: alias, default: isDefault, settings, keep }
      const [status] = await act('models.load', input, flags)
      if (status?.origin !== 'loaded') return
      const command = `oi models keep ${shellArgument(status.model)}`
      printError(`${status.model} is gone when the server starts again; ${command} keeps it\n`)
    },
  )

  const keep = models
    .command('keep')
    .description('let every further start of the server load a model that was loaded at run time')
    .argument('<name>', 'any of its names')
    .option('--off', 'let the next start forget it')
  addSettings(keep, ['dataDir']).action(async (name: string, flags: Flags & { off?: boolean }) => {
    const [status] = await ask('models.keep', { name, keep: !flags.off }, flags)
    print(keptText(status ?? undefined, name))
  })

  const unload = models
    .command('unload')
    .description('unload a model from the running server, once its requests are answered')
    .argument('<name>', 'any of its names')
  addSettings(unload, ['dataDir']).action(async (name: string, flags: Flags) => {
    const [model] = await ask('models.unload', { name }, flags)
    print(`${model!.model} is unloaded\n`)
    if (model!.origin !== 'settings') return
    printError('The settings name it: the next start loads it again\n')
  })

  const reload = models
    .command('reload')
    .description('reload models from their files, beside the old ones, and switch over')
    .argument('[name]', 'any of its names; without it, all models one after another')
    .option('--json', 'JSON for programs')
    .option(...wideFlag)
  addSettings(reload, ['dataDir']).action(async (name: string | undefined, flags: Flags) => {
    await act('models.reload', { name }, flags)
  })

  const status = models
    .command('status')
    .description('show the models of the running server of the data folder')
    .option('--json', 'JSON for programs; sizes are bytes, times milliseconds since 1970')
    .option(...wideFlag)
  addSettings(status, ['dataDir']).action(async (flags: Flags) => {
    await act('models.status', {}, flags)
  })
}

function modelText({ model, default: isDefault, origin }: ModelStatus): string {
  const facts = [
    ...(isDefault ? ['default'] : []),
    ...{ settings: [], kept: ['kept'], loaded: ['not kept'] }[origin],
  ]
  return facts.length === 0 ? model : `${model} (${facts.join(', ')})`
}

/** @param status - Undefined for a model that is kept no more, and was not loaded. */
function keptText(status: ModelStatus | undefined, name: string): string {
  if (status === undefined) return `${name} is kept no more\n`
  const { model, origin } = status
  if (origin === 'settings') return `${model} is loaded at every start: the settings name it\n`
  return origin === 'kept'
    ? `${model} is loaded at every further start\n`
    : `${model} is gone when the server starts again\n`
}

function memoryText(processes: ModelStatus['processes']): string {
  const known = processes.flatMap(({ residentBytes }) => residentBytes ?? [])
  return known.length === 0 ? '-' : sizeText(known.reduce((sum, bytes) => sum + bytes, 0))
}

/** Number and causes: `3 (2 SIGKILL, 1 hung)`. */
function endsText(ends: ModelStatus['ends']): string {
  const entries = Object.entries(ends)
  const total = entries.reduce((sum, [, count]) => sum + count, 0)
  return total === 0
    ? '0'
    : `${total} (${entries.map(([why, count]) => `${count} ${why}`).join(', ')})`
}
