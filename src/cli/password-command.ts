/**
 * `oi admin password`: who may administer a server in the console.
 *
 * @module
 */

import type { Command } from 'commander'
import { Accounts } from '../accounts/accounts.js'
import { checkNewPassword, hashPassword } from '../accounts/password.js'
import { readConfig } from '../config.js'
import { commandActor } from './command-actor.js'
import type { Dependencies } from './dependencies.js'
import { print, printError } from './output/print.js'
import { readPassword } from './read-password.js'
import { addSettings } from './setting-options.js'
import type { AccountsFlags } from './with-accounts.js'

export function addPasswordCommand(admin: Command, dependencies: Dependencies): void {
  const password = admin
    .command('password')
    .description('set the console’s password, and end all its sessions')
    .addHelpText(
      'after',
      '\nIt is asked for twice, or taken from standard input if that is no terminal: its first' +
        '\nline, 12 to 256 characters. A server that runs need not be stopped.',
    )
  addSettings(password, ['dataDir']).action(async (flags: AccountsFlags) => {
    const { dataDir } = readConfig(dependencies.environment, { dataDir: flags.dataDir })
    const accounts = new Accounts({ dataDir, log: (text) => printError(`${text}\n`) })
    try {
      const text = await readPassword()
      checkNewPassword(text)
      accounts.admin.setPassword(await hashPassword(text))
      const deed = { action: 'password.set', target: 'administrator', name: '' }
      accounts.administer(commandActor()).record(deed)
      print('The password is set. All sessions have ended.\n')
    } finally {
      accounts.close()
    }
  })
}
