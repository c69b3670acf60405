/**
 * `oi models price`.
 *
 * @module
 */

import type { Command } from 'commander'
import { type Price, showCredits } from '../../accounts/money.js'
import type { ModelPrice } from '../../accounts/prices.js'
import { OiError } from '../../errors.js'
import type { Dependencies } from '../dependencies.js'
import { readAmount } from '../input/values.js'
import { addSettings } from '../input/setting-options.js'
import { printList } from '../output/table.js'
import { type AccountsFlags, withAccounts } from './with-accounts.js'

type PriceFlags = AccountsFlags & Partial<Price> & { readonly json?: boolean }

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
    .option('--json', 'JSON for programs; amounts are millionths of a credit')
  addSettings(price, ['dataDir']).action((model: string | undefined, flags: PriceFlags) => {
    const { input, output, image, json } = flags
    const setting = [input, output, image].some((amount) => amount !== undefined)
    if (setting && model === undefined) {
      throw new OiError('ERR_CONFIG', 'The model is missing: oi models price <model> …')
    }
    withAccounts(dependencies, flags, ({ prices }, administration) => {
      if (setting) administration.setPrice(model!, { input, output, image })
      const all = prices.list()
      printList(model === undefined ? all : all.filter((row) => row.model === model), columns, json)
    })
  })
}
