/**
 * `oi admin`: commands for administrators on the server's machine; backups have their own file.
 *
 * @module
 */

import type { Command } from 'commander'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { checkNewPassword, hashPassword } from '../../admin/password.js'
import { OiError } from '../../errors.js'
import type { Dependencies } from '../../server/dependencies.js'
import { print, printError } from '../../terminal/print.js'
import { type AccountsFlags, accountsSettings, withNewAccounts } from '../accounts/with-accounts.js'
import type { CommandDependencies } from '../exit-codes.js'
import { readText } from '../input/read-text.js'
import { addSettings } from '../input/setting-options.js'
import { addBackupCommands } from './backup-commands.js'

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

/**
 * Asks for it twice, without showing it; if standard input is no terminal, reads its first line.
 *
 * @throws {@link OiError} `ERR_CONFIG` if no password or two different passwords are given.
 */
async function readPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    const [line = ''] = (await readText('-')).split(/\r?\n/, 1)
    return line
  }
  const first = await ask('New password: ')
  if (first === (await ask('The same again: '))) return first
  throw new OiError('ERR_CONFIG', 'Two different passwords: nothing has changed')
}

function ask(prompt: string): Promise<string> {
  printError(prompt)
  // readline echoes typed characters into this stream, which drops them.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  return new Promise((resolve, reject) => {
    lines.once('SIGINT', () => lines.close())
    lines.once('close', () => reject(new OiError('ERR_CONFIG', 'No password: nothing has changed')))
    lines.once('line', (line) => {
      printError('\n')
      resolve(line)
      lines.close()
    })
  })
}
