/**
 * The accounts for one command: opened, changed in the name of its user, and closed.
 *
 * @module
 */

import { userInfo } from 'node:os'
import { Accounts } from '../../accounts/accounts.js'
import type { Actor, Administration } from '../../accounts/administration.js'
import { readConfig } from '../../config.js'
import type { Dependencies } from '../dependencies.js'
import { printError } from '../output/print.js'

export interface AccountsFlags {
  readonly dataDir?: string
}

/** Runs a task with the accounts of the configured data folder. */
export function withAccounts(
  { environment }: Pick<Dependencies, 'environment'>,
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

/** The user of a command, as the audit log names them. */
export function commandActor(): Actor {
  return { kind: 'command', detail: userName() }
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // In containers, a user may have a number only.
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
