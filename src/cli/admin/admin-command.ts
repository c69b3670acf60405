/**
 * `oi admin`: commands for administrators on the server's machine; backups have their own file.
 *
 * @module
 */

import type { Command } from 'commander'
import { checkNewPassword, hashPassword } from '../../admin/password.js'
import { accountsSettings, type AccountsFlags, withNewAccounts } from '../accounts/with-accounts.js'
import type { Dependencies } from '../../server/dependencies.js'
import type { CommandDependencies } from '../exit-codes.js'
import { addSettings } from '../input/setting-options.js'
import { print } from '../../terminal/print.js'
import { addBackupCommands } from './backup-commands.js'
import { readPassword } from './read-password.js'

export function addAdminCommand(program: Command, dependencies: CommandDependencies): void {
  const admin = program
    .command('admin')
    .description("the console's password, and backups of the accounts: workspaces, keys, ledger")
  addPasswordCommand(admin, dependencies)
  addBackupCommands(admin, dependencies)
}

function addPasswordCommand(admin: Command, dependencies: Dependencies): void {
  const password = admin
    .command('password')
    .description('set the console’s password, and end all its sessions')
    .addHelpText(
      'after',
      '\nIt is asked for twice, or taken from standard input if that is no terminal: its first' +
        '\nline, 12 to 256 characters. A running server need not be stopped.',
    )
  addSettings(password, accountsSettings).action(async (flags: AccountsFlags) => {
    const text = await readPassword()
    checkNewPassword(text)
    const hash = await hashPassword(text)
    withNewAccounts(dependencies, flags, ({ admin }, administration) => {
      admin.setPassword(hash)
      administration.record({ action: 'password.set', target: 'administrator', name: '' })
    })
    print('The password is set. All sessions have ended.\n')
  })
}
