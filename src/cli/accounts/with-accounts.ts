/**
 * The accounts for one command: opened, changed in the name of its user, and closed.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { Accounts } from '../../accounts/accounts.js'
import type { Administration } from '../../accounts/administration.js'
import { commandActor } from '../../accounts/command-actor.js'
import { accountsPath } from '../../accounts/store/database.js'
import { readConfig } from '../../config.js'
import { OiError } from '../../errors.js'
import { accountsOf } from '../../server/accounts-of.js'
import type { Dependencies } from '../../server/dependencies.js'
import { printError } from '../../terminal/print.js'

export interface AccountsFlags {
  readonly dataDir?: string
  readonly accounts?: string
}

/** The settings that say where the accounts are. */
export const accountsSettings = ['dataDir', 'accounts'] as const

type Use<T> = (accounts: Accounts, administration: Administration, dataDir: string) => T

/**
 * Runs a task with the accounts of the configured data folder.
 *
 * @throws {@link OiError} `ERR_ACCOUNTS` if there are none: a folder that was named by mistake stays
 *   as it is.
 */
export function withAccounts<T>(
  dependencies: Pick<Dependencies, 'environment'>,
  flags: AccountsFlags,
  use: Use<T>,
): T {
  const { accounts, dataDir: folder } = configOf(dependencies, flags)
  if (accounts === '' && !existsSync(accountsPath(folder))) {
    const remedy = 'see --data-dir; oi workspaces create, or a first oi serve, makes them'
    throw new OiError('ERR_ACCOUNTS', `There are no accounts in ${folder}: ${remedy}`)
  }
  return withNewAccounts(dependencies, flags, use)
}

/** The same; makes the accounts if there are none. */
export function withNewAccounts<T>(
  dependencies: Pick<Dependencies, 'environment'>,
  flags: AccountsFlags,
  use: Use<T>,
): T {
  const config = configOf(dependencies, flags)
  const log = (text: string) => printError(`${text}\n`)
  const accounts = new Accounts({ ...accountsOf(config), log })
  try {
    return use(accounts, accounts.administer(commandActor()), config.dataDir)
  } finally {
    accounts.close()
  }
}

/** The settings of a command with these flags. */
export const configOf = (
  { environment }: Pick<Dependencies, 'environment'>,
  { dataDir, accounts }: AccountsFlags,
) => readConfig(environment, { dataDir, accounts })
