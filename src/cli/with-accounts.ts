/**
 * Opens the accounts of the configured data folder for one command, and closes them.
 *
 * @module
 */

import { Accounts } from '../accounts/accounts.js'
import type { Administration } from '../accounts/administration.js'
import { readConfig } from '../config.js'
import { commandActor } from './command-actor.js'
import type { Dependencies } from './dependencies.js'
import { printError } from './output/print.js'

export interface AccountsFlags {
  readonly dataDir?: string
}

export function withAccounts(
  { environment }: Dependencies,
  { dataDir }: AccountsFlags,
  use: (accounts: Accounts, administration: Administration, dataDir: string) => void,
): void {
  const folder = readConfig(environment, { dataDir }).dataDir
  const log = (text: string) => printError(`${text}\n`)
  const accounts = new Accounts({ dataDir: folder, log })
  try {
    use(accounts, accounts.administer(commandActor()), folder)
  } finally {
    accounts.close()
  }
}
