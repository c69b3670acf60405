/**
 * `oi admin backup`, `check`, `restore`: copies of the accounts.
 *
 * @module
 */

import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { backUp, checkBackup, restore, timeInName } from '../../accounts/backup.js'
import { requireUnserved } from '../../admin/socket/client.js'
import { counted, sizeText } from '../../api/words.js'
import { readConfig } from '../../config.js'
import { OiError } from '../../errors.js'
import { showConsistency } from '../accounts/accounts-command.js'
import { accountsSettings, type AccountsFlags, withAccounts } from '../accounts/with-accounts.js'
import { type CommandDependencies, exitCodes } from '../exit-codes.js'
import { addSettings } from '../input/setting-options.js'
import { print, printError } from '../../terminal/print.js'
import { type ListFlags, wideFlag } from '../output/table.js'

type CheckFlags = AccountsFlags & ListFlags

export function addBackupCommands(admin: Command, dependencies: CommandDependencies): void {
  const folderOf = ({ dataDir }: AccountsFlags) => {
    const config = readConfig(dependencies.environment, { dataDir })
    if (config.accounts === '') return config.dataDir
    const remedy = 'pg_dump --schema=oi copies them, and pg_restore puts them back'
    throw new OiError('ERR_CONFIG', `The accounts are in PostgreSQL (--accounts): ${remedy}`)
  }
  const backup = admin
    .command('backup')
    .description('copy the accounts to one file, also while a server runs')
    .argument('[file]', 'a new file; by default in backups in the data folder')
  addSettings(backup, ['dataDir']).action(
    async (file: string | undefined, flags: AccountsFlags) => {
      const folder = folderOf(flags)
      const target = file ?? join(folder, 'backups', `accounts-${timeInName()}.db`)
      const { path, bytes } = await backUp(folder, target)
      const { workspaces, faults } = checkBackup(path, folder)
      print(`${path}\n`)
      printError(`${sizeText(bytes)}, ${counted(workspaces.length, 'workspace')}\n`)
      for (const fault of faults) printError(`${fault}\n`)
      if (faults.length > 0) dependencies.done(exitCodes.failure)
    },
  )

  const check = admin
    .command('check')
    .description('check balances against the ledger, and the ledger against daily usage')
    .argument('[file]', 'a copy that backup has made; by default the accounts themselves')
    .option('--json', 'JSON for programs; amounts are millionths of a credit')
    .option(...wideFlag)
  addSettings(check, accountsSettings).action((file: string | undefined, flags: CheckFlags) => {
    if (file !== undefined) showConsistency(checkBackup(file, tmpdir()), flags, dependencies)
    else
      withAccounts(dependencies, flags, (accounts) =>
        showConsistency(accounts.check(), flags, dependencies),
      )
  })

  const restoring = admin
    .command('restore')
    .description('replace the accounts by a copy; no server may run on the data folder')
    .argument('<file>', 'a copy that backup has made')
    .option('--json', 'JSON for programs; amounts are millionths of a credit')
    .option(...wideFlag)
  addSettings(restoring, ['dataDir']).action(async (file: string, flags: CheckFlags) => {
    const folder = folderOf(flags)
    await requireUnserved(folder)
    const { kept, revived, consistency } = await restore(folder, file)
    showConsistency(consistency, flags, dependencies)
    if (kept !== undefined) printError(`The accounts from before are in ${kept}\n`)
    for (const { id, name } of revived) {
      printError(
        `Key ${id}, "${name}", was revoked since and is valid again: oi keys revoke ${id}\n`,
      )
    }
  })
}
