/**
 * Opens the accounts of the configured data folder for one command, and closes them.
 *
 * @module
 */

import { Accounts } from '../accounts/accounts.js'
import { readConfig } from '../config.js'
import type { Dependencies } from './dependencies.js'

export interface AccountsFlags {
  readonly dataDir?: string
}

export function withAccounts(
  { environment }: Pick<Dependencies, 'environment'>,
  { dataDir }: AccountsFlags,
  use: (accounts: Accounts, dataDir: string) => void,
): void {
  const folder = readConfig(environment, { dataDir }).dataDir
  const accounts = new Accounts({ dataDir: folder })
  try {
    use(accounts, folder)
  } finally {
    accounts.close()
  }
}
