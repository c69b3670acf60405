/**
 * `oi admin`: what those who run a server do on its machine.
 *
 * @module
 */

import type { Command } from 'commander'
import { addBackupCommands } from './backup-commands.js'
import type { Dependencies } from './dependencies.js'

export function addAdminCommand(
  program: Command,
  dependencies: Dependencies,
  done: (code: number) => void,
): void {
  const admin = program
    .command('admin')
    .description('backups of the accounts: workspaces, keys, ledger')
  addBackupCommands(admin, dependencies, done)
}
