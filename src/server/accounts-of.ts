import type { AccountsOptions } from '../accounts/accounts.js'
import type { Config } from '../config.js'

/** Where the accounts are, by the settings. */
export function accountsOf({
  accounts: url,
  accountsGraceMs: graceMs,
  dataDir,
}: Config): Pick<AccountsOptions, 'dataDir' | 'postgres'> {
  return { dataDir, postgres: url === '' ? undefined : { url, graceMs } }
}
