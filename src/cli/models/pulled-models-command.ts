/**
 * `oi models pull`, `list`, `rm`: named models in the folder of pulled models.
 *
 * @module
 */

import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { askServer } from '../../admin/socket/client.js'
import type { ModelStatus } from '../../admin/socket/operations.js'
import { type Config, modelConfig, modelsDirOf, readConfig } from '../../config.js'
import { OiError } from '../../errors.js'
import { defaultModelName, defaultModelPath } from '../../models/default-model.js'
import { isSafeForToken, type Token } from '../../models/pull/fetch.js'
import { type PullOptions, pullModel } from '../../models/pull/pull.js'
import { removeModel } from '../../models/pull/remove.js'
import { readAddress, readSource } from '../../models/pull/source.js'
import {
  findPulled,
  isModelName,
  listPulled,
  listUnfinished,
  type PulledModel,
} from '../../models/pulled-models.js'
import { shellArgument, shellWord, sizeText } from '../../api/words.js'
import type { Dependencies } from '../../server/dependencies.js'
import { probeModel } from '../../opening/open-model.js'
import { print, printError } from '../output/print.js'
import { readText } from '../input/read-text.js'
import { PullDisplay } from './pull-display.js'
import { addSettings } from '../input/setting-options.js'
import { printList, showTime } from '../output/table.js'

interface FolderFlags {
  readonly dataDir?: string
  readonly modelsDir?: string
}

interface PullFlags extends FolderFlags {
  readonly name?: string
  readonly sha256?: string
  readonly hub?: string
  readonly tokenFile?: string
  readonly connections: string
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

const defaultHub = 'https://huggingface.co'
/** Bytes of one request: enough to make its overhead negligible. */
const pieceBytes = 64 << 20

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
    .option('--connections <n>', 'parallel downloads, 1 to 16', '4')
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
  addSettings(list, ['dataDir', 'modelsDir']).action((flags: FolderFlags & { json?: boolean }) => {
    const modelsDir = modelsDirOf(configOf(flags))
    const unfinished = listUnfinished(modelsDir)
    const rows: Row[] = [
      packaged(),
      ...listPulled(modelsDir).map((model) => ({ ...model, bytes: bytesOf(model) })),
      ...unfinished.map((pull) => ({ ...pull, unfinished: true as const })),
    ]
    printList(rows, columns, flags.json)
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
  const hub = readAddress('--hub', flags.hub ?? (environment['HF_ENDPOINT'] || defaultHub))
  return {
    hub,
    token: await readToken(source, hub, flags, environment),
    silenceMs: 30_000,
    backoffMs: 500,
    signal: undefined,
    onRetry: (text) => display.note(text),
    name: flags.name,
    sha256: readSha256(flags.sha256),
    projector: projectorSource(flags.mmproj, hub),
    modelsDir: modelsDirOf(config),
    connections: readConnections(flags.connections),
    pieceBytes,
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
  if (tokenFile === undefined) {
    const text = environment['HF_TOKEN']?.trim()
    return text ? tokenFor(hub, 'HF_TOKEN', text) : undefined
  }
  const found = readSource(source, hub)
  const text = (await readText(tokenFile, '--token-file')).trim()
  return tokenFor(found.kind === 'address' ? found.url : hub, '--token-file', text)
}

/** No message shows the token. */
function tokenFor(url: URL, place: string, text: string): Token {
  if (!/^[\x21-\x7e]{1,4096}$/.test(text)) {
    throw new OiError('ERR_CONFIG', `${place}: expected one token of visible characters`)
  }
  if (!isSafeForToken(url)) {
    printError(`The token of ${place} is not sent: ${url.origin} is read over plain HTTP\n`)
  }
  return { text, origin: url.origin }
}

function readSha256(text: string | undefined): string | undefined {
  const digest = text?.toLowerCase().replace(/^sha256:/, '')
  if (digest === undefined || /^[0-9a-f]{64}$/.test(digest)) return digest
  throw new OiError('ERR_CONFIG', `--sha256: expected 64 hexadecimal digits, got ${text}`)
}

function readConnections(text: string): number {
  if (/^(?:[1-9]|1[0-6])$/.test(text)) return Number(text)
  throw new OiError('ERR_CONFIG', `--connections: expected an integer from 1 to 16, got ${text}`)
}

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

type Row =
  | (PulledModel & { readonly bytes: number })
  | { readonly name: string; readonly bytes: number; readonly unfinished: true }
  | { readonly name: string; readonly bytes: number; readonly source: 'this package' }

const isPulled = (row: Row) => 'files' in row

const columns = {
  model: ({ name }: Row) => name,
  size: ({ bytes }: Row) => sizeText(bytes),
  quantization: (row: Row) =>
    'unfinished' in row ? 'not whole yet' : (isPulled(row) && row.quantization) || '-',
  'sees images': (row: Row) => (isPulled(row) && row.projector !== '' ? 'yes' : '-'),
  source: (row: Row) => ('source' in row ? row.source : '-'),
  sha256: (row: Row) => (isPulled(row) ? row.files[0]!.sha256.slice(0, 12) : '-'),
  'pulled (UTC)': (row: Row) => (isPulled(row) ? showTime(row.pulledMs) : '-'),
}

/** The model of this package. */
function packaged(): Row {
  const { size } = statSync(defaultModelPath)
  return { name: defaultModelName, bytes: size, source: 'this package' }
}

function bytesOf({ files }: PulledModel): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
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
