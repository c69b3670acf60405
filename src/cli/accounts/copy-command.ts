/**
 * `oi accounts copy`: from a file into PostgreSQL, or back.
 *
 * @module
 */

import { resolve } from 'node:path'
import type { Command } from 'commander'
import { Accounts } from '../../accounts/accounts.js'
import type { CopiedTable } from '../../accounts/copy.js'
import { requireUnserved } from '../../admin/socket/client.js'
import { readConfig } from '../../config.js'
import { accountsOf } from '../../server/accounts-of.js'
import type { Dependencies } from '../../server/dependencies.js'
import { printError } from '../../terminal/print.js'
import { addSettings } from '../input/setting-options.js'
import { type ListFlags, printList } from '../output/table.js'
import { type AccountsFlags, accountsSettings, configOf, withAccounts } from './with-accounts.js'

const columns = {
  table: ({ table }: CopiedTable) => table,
  rows: ({ rows }: CopiedTable) => String(rows),
}

export function addCopyCommand(accounts: Command, { environment }: Dependencies): void {
  const copy = accounts
    .command('copy')
    .description('copy the accounts to a place that has none, and compare every sum')
    .argument('<to>', 'postgres://user:password@host:5432/database, or a data folder')
    .option('--json', 'JSON for programs')
  addSettings(copy, accountsSettings).action(
    async (to: string, flags: AccountsFlags & ListFlags) => {
      const { dataDir } = configOf({ environment }, flags)
      await requireUnserved(dataDir)
      // Read as the setting of a server would be, without what else is set.
      const target = /^postgres(ql)?:/.test(to)
        ? readConfig({}, { dataDir, accounts: to })
        : readConfig({}, { dataDir: resolve(to) })
      const copied = withAccounts({ environment }, flags, (source) => {
        const copy = new Accounts(accountsOf(target))
        try {
          return source.copyTo(copy)
        } finally {
          copy.close()
        }
      })
      printList(copied, columns, flags)
      printError('Every sum is equal. The accounts from before stay, and are booked on no more.\n')
    },
  )
}
