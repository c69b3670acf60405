/**
 * `oi admin`: what those who run a server do on its machine.
 *
 * @module
 */

import type { Command } from 'commander'
import { addBackupCommands } from './backup-commands.js'
import type { Dependencies } from './dependencies.js'
import { addPasswordCommand } from './password-command.js'

export function addAdminCommand(
  program: Command,
  dependencies: Dependencies,
  done: (code: number) => void,
): void {
  const admin = program
    .command('admin')
    .description("the console's password, and backups of the accounts: workspaces, keys, ledger")
  addPasswordCommand(admin, dependencies)
  addBackupCommands(admin, dependencies, done)
}
