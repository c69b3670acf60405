/**
 * `oi models price`.
 *
 * @module
 */

import { basename } from 'node:path'
import type { Command } from 'commander'
import { type Price, showCredits } from '../../accounts/ledger/money.js'
import type { ModelPrice } from '../../accounts/ledger/prices.js'
import { askServer } from '../../admin/socket/client.js'
import type { ModelStatus } from '../../admin/socket/operations.js'
import { nearestOf } from '../../api/words.js'
import { type Config, modelsDirOf, readConfig } from '../../config.js'
import { nameOfFile } from '../../decide/model-card.js'
import { OiError } from '../../errors.js'
import { defaultModelName } from '../../models/default-model.js'
import { listPulled } from '../../models/pulled-models.js'
import type { Dependencies } from '../../server/dependencies.js'
import { readAmount } from '../input/values.js'
import { addSettings } from '../input/setting-options.js'
import { printError } from '../../terminal/print.js'
import { printList } from '../output/table.js'
import { KeptModels } from '../../server/models/kept-models.js'
import { accountsSettings, type AccountsFlags, withAccounts } from './with-accounts.js'

type PriceFlags = AccountsFlags &
  Partial<Price> & { readonly force?: boolean; readonly json?: boolean }

const columns = {
  model: (price: ModelPrice) => price.model,
  input: (price: ModelPrice) => showCredits(price.input),
  output: (price: ModelPrice) => showCredits(price.output),
  image: (price: ModelPrice) => showCredits(price.image),
}

export function addPriceCommand(models: Command, dependencies: Dependencies): void {
  const price = models
    .command('price')
    .description('show prices, or set one from the next answer on, in credits per million tokens')
    .argument('[model]', 'its name, as GET /v1/models shows it; without it, all that have a price')
    .option('--input <credits>', 'of input tokens without those of images', readAmount)
    .option('--output <credits>', 'of output tokens', readAmount)
    .option('--image <credits>', 'of image tokens', readAmount)
    .option('--force', 'even if no model of this name is known')
    .option('--json', 'JSON for programs; amounts are millionths of a credit')
  addSettings(price, accountsSettings).action(
    async (model: string | undefined, flags: PriceFlags) => {
      const { input, output, image, force, json } = flags
      const setting = [input, output, image].some((amount) => amount !== undefined)
      if (setting && model === undefined) {
        throw new OiError('ERR_CONFIG', 'The model is missing: oi models price <model> …')
      }
      const config = readConfig(dependencies.environment, { dataDir: flags.dataDir })
      const known = model === undefined || force ? undefined : await knownModels(config)
      withAccounts(dependencies, flags, ({ prices }, administration) => {
        const named = prices.list().map((row) => row.model)
        if (known !== undefined) requireKnown(model!, [...named, ...known])
        if (setting) administration.setPrice(model!, { input, output, image })
        const all = prices.list()
        const shown = model === undefined ? all : all.filter((row) => row.model === model)
        printList(shown, columns, { json })
        if (shown.length === 0 && model !== undefined)
          printError(`${model} has no price: it is free\n`)
      })
    },
  )
}

/** Names of models that a server on the data folder has, or would have. */
async function knownModels(config: Config): Promise<readonly string[]> {
  const { dataDir } = config
  const status = askServer(dataDir, 'models.status', {}) as Promise<readonly ModelStatus[]>
  // Without a running server, the files tell.
  const running = await status.catch(() => [])
  const kept = await KeptModels.read(dataDir)
  return [
    defaultModelName,
    ...running.map(({ model }) => model),
    ...kept.models.map(({ name }) => name),
    ...listPulled(modelsDirOf(config)).map(({ name }) => name),
    ...config.models.map(({ name, file }) => name ?? nameOfFile(basename(file))),
  ]
}

function requireKnown(model: string, known: readonly string[]): void {
  if (known.includes(model)) return
  const meant = `did you mean ${nearestOf(model, known)}?`
  throw new OiError(
    'ERR_NOT_FOUND',
    `No model ${model} is known here: ${meant} (--force sets a price all the same)`,
  )
}
