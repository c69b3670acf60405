/**
 * `oi models pull`, `list`, `rm`: named models in the folder of pulled models.
 *
 * @module
 */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { askServer } from '../../admin/socket/client.js'
import type { ModelStatus } from '../../admin/socket/operations.js'
import { type Config, modelConfig, modelsDirOf, readConfig } from '../../config.js'
import { OiError } from '../../errors.js'
import { defaultModelName } from '../../models/default-model.js'
import { bytesOf, isPulled, type NamedModel, namedModels } from '../../models/named-models.js'
import type { Token } from '../../models/pull/fetch.js'
import {
  hubOf,
  hubToken,
  pullConnections,
  pullDefaults,
  readSha256,
  tokenFor,
} from '../../models/pull/hub-settings.js'
import { type PullOptions, pullModel } from '../../models/pull/pull.js'
import { removeModel } from '../../models/pull/remove.js'
import { readSource } from '../../models/pull/source.js'
import { findPulled, isModelName, type PulledModel } from '../../models/pulled-models.js'
import { shellArgument, shellWord, sizeText } from '../../api/words.js'
import type { Dependencies } from '../../server/dependencies.js'
import { probeModel } from '../../opening/open-model.js'
import { print, printError } from '../../terminal/print.js'
import { readText } from '../input/read-text.js'
import { readWhole } from '../input/values.js'
import { PullDisplay } from './pull-display.js'
import { addSettings } from '../input/setting-options.js'
import { type ListFlags, printList, showTime, wideFlag } from '../output/table.js'

interface FolderFlags {
  readonly dataDir?: string
  readonly modelsDir?: string
}

interface PullFlags extends FolderFlags {
  readonly name?: string
  readonly sha256?: string
  readonly hub?: string
  readonly tokenFile?: string
  readonly connections: number
  readonly mmproj?: string | false
  readonly json?: boolean
}

const help = `
What can be pulled:

  hf:owner/repository            the only model of a repository, or its Q4_K_M
  hf:owner/repository:Q8_0       another quantization
  hf:owner/repository:FILE.gguf  one file
  https://…/model.gguf           an address; of a split model, that of any part
  path/to/model.gguf             a file, which is copied

All parts of a split model are fetched, and a repository's projector with it. A pull that was cut
goes on where it was when it is run again. A token for private repositories is read from HF_TOKEN or
--token-file, and sent to nobody but the hub. The model is loaded once before it gets its name:

  oi models pull hf:owner/repository:Q8_0 --name small
  oi serve --model small`

export function addPulledModelsCommands(models: Command, dependencies: Dependencies): void {
  const configOf = ({ dataDir, modelsDir }: FolderFlags) =>
    readConfig(dependencies.environment, { dataDir, modelsDir })

  const pull = models
    .command('pull')
    .description('fetch a model, check it, and give it a name')
    .argument('<source>', 'hf:owner/repository[:QUANTIZATION], an address, or a path')
    .option('--name <name>', 'its name; default: from its file')
    .option('--sha256 <digest>', 'the expected digest of its file')
    .option(
      '--token-file <file>',
      'file with a token; sent to the hub or, for an address, to its server',
    )
    .option('--hub <address>', 'another hub (HF_ENDPOINT)')
    .option('--connections <n>', 'parallel downloads', readWhole(1, 16), pullConnections)
    .option('--mmproj <source>', 'its projector: an address, a path, or hf:…:FILE.gguf')
    .option('--no-mmproj', 'without the projector of the repository')
    .option('--json', 'JSON for programs; sizes are bytes')
    .addHelpText('after', help)
  addSettings(pull, ['dataDir', 'modelsDir']).action(async (source: string, flags: PullFlags) => {
    const config = configOf(flags)
    const display = new PullDisplay(printError)
    try {
      const options = await pullOptions(source, flags, config, dependencies, display)
      const { model, unchanged } = await pullModel(source, options)
      display.stop()
      if (flags.json) print(`${JSON.stringify({ ...model, unchanged }, null, 2)}\n`)
      else print(pulledText(model, unchanged))
    } finally {
      display.stop()
    }
  })

  const list = models
    .command('list')
    .description(
      'show the models that have names: the one of this package, and those that were pulled',
    )
    .option('--json', 'JSON for programs; sizes are bytes, times milliseconds since 1970')
    .option(...wideFlag)
  addSettings(list, ['dataDir', 'modelsDir']).action((flags: FolderFlags & ListFlags) => {
    const modelsDir = modelsDirOf(configOf(flags))
    const rows = namedModels(modelsDir)
    printList(rows, columns, flags)
    if (rows.length === 1 && !flags.json) printError(`No model has been pulled into ${modelsDir}\n`)
  })

  const remove = models
    .command('rm')
    .description('remove a pulled model, or the remains of a pull')
    .argument('<name>')
    .option('--force', 'even if the settings name it')
  addSettings(remove, ['dataDir', 'modelsDir', 'config']).action(
    async (
      name: string,
      { force, ...flags }: FolderFlags & { config?: string; force?: boolean },
    ) => {
      const config = readConfig(dependencies.environment, { ...flags })
      const modelsDir = modelsDirOf(config)
      if (name === defaultModelName && findPulled(modelsDir, name) === undefined) {
        throw new OiError('ERR_PULL', `${name} belongs to this package, and is not removed`)
      }
      if (!isModelName(name)) throw new OiError('ERR_CONFIG', `name: expected a name, got ${name}`)
      const freed = await removeModel(modelsDir, name, async () => {
        await requireNotServed(name, config)
        if (!force) requireNotNamed(name, config)
      })
      print(`${name} is removed: ${sizeText(freed)}\n`)
    },
  )
}

async function pullOptions(
  source: string,
  flags: PullFlags,
  config: Config,
  { environment }: Dependencies,
  display: PullDisplay,
): Promise<PullOptions> {
  const hub = hubOf(environment, flags.hub)
  return {
    ...{ ...pullDefaults, hub, signal: undefined },
    token: await readToken(source, hub, flags, environment),
    onRetry: (text) => display.note(text),
    name: flags.name,
    sha256: readSha256(flags.sha256, '--sha256'),
    projector: projectorSource(flags.mmproj, hub),
    modelsDir: modelsDirOf(config),
    connections: flags.connections,
    onProgress: (name, progress) => display.show(name, progress),
    requireUnused: (name) => requireNotServed(name, config),
    check: async (file, projector) => {
      display.checking()
      await probeModel({ ...modelConfig(config, file), mmproj: projector })
    },
  }
}

/** @param flag - Undefined: not given; false: `--no-mmproj`. */
function projectorSource(flag: string | false | undefined, hub: URL): PullOptions['projector'] {
  if (flag === undefined) return 'own'
  return flag === false ? 'none' : readSource(flag, hub, '--mmproj')
}

/**
 * The token given for this pull goes to its source; the environment's token goes to the hub only.
 */
async function readToken(
  source: string,
  hub: URL,
  { tokenFile }: PullFlags,
  environment: Dependencies['environment'],
): Promise<Token | undefined> {
  if (tokenFile === undefined) return hubToken(hub, environment, warn)
  const found = readSource(source, hub)
  const text = (await readText(tokenFile, '--token-file')).trim()
  return tokenFor(found.kind === 'address' ? found.url : hub, '--token-file', text, warn)
}

const warn = (text: string) => printError(`${text}\n`)

/** @throws {@link OiError} `ERR_PULL` if the server on the data folder has the model open. */
async function requireNotServed(name: string, config: Config): Promise<void> {
  const folder = resolve(modelsDirOf(config), name)
  const answer = askServer(config.dataDir, 'models.status', {})
  const statuses = (await answer.catch((error: OiError) => {
    // No server runs, or there is no such data folder.
    if (['ERR_REMOTE', 'ERR_ACCOUNTS'].includes(error.code)) return []
    throw error
  })) as ModelStatus[]
  const user = statuses.find(({ file }) => resolve(file, '..') === folder)
  if (user === undefined) return
  const remedy = `unload it first (oi models unload ${shellArgument(user.model)})`
  throw new OiError('ERR_PULL', `The server of ${config.dataDir} has ${name} open: ${remedy}`)
}

/** @throws {@link OiError} `ERR_PULL` if the settings name the model. */
function requireNotNamed(name: string, { models, config }: Config): void {
  if (!models.some(({ file }) => file === name)) return
  const where = config === '' ? 'OI_MODEL names it' : `the settings name it (${config})`
  throw new OiError('ERR_PULL', `${name} is not removed, as ${where}: --force removes it`)
}

const columns = {
  model: ({ name }: NamedModel) => name,
  size: ({ bytes }: NamedModel) => sizeText(bytes),
  quantization: (row: NamedModel) =>
    'unfinished' in row ? 'not whole yet' : (isPulled(row) && row.quantization) || '-',
  source: (row: NamedModel) => ('source' in row ? row.source : '-'),
  'sees images': (row: NamedModel) => (isPulled(row) && row.projector !== '' ? 'yes' : '-'),
  sha256: (row: NamedModel) => (isPulled(row) ? row.files[0]!.sha256.slice(0, 12) : '-'),
  'pulled (UTC)': (row: NamedModel) => (isPulled(row) ? showTime(row.pulledMs) : '-'),
}

function pulledText(model: PulledModel, unchanged: boolean): string {
  const { name, quantization, projector, files } = model
  const kind = quantization === '' ? '' : `, ${quantization}`
  const how = unchanged ? 'was there already' : 'is there'
  const sees = projector === '' ? '' : ', sees images'
  const digests = files.map((file) => `  sha256 ${file.sha256}  ${file.name}\n`).join('')
  return (
    `${name} ${how}: ${sizeText(bytesOf(model))}${kind}${sees}\n${digests}` +
    `Serve it with: oi serve --model ${shellWord(name)}\n`
  )
}
