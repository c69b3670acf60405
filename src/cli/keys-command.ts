/**
 * `oi keys`: create, list, revoke.
 *
 * @module
 */

import { type Command, InvalidArgumentError } from 'commander'
import type { Key } from '../accounts/accounts.js'
import type { Dependencies } from './dependencies.js'
import { print, printError } from './output/print.js'
import { addSettings } from './setting-options.js'
import { printList, showTime } from './table.js'
import { type AccountsFlags, withAccounts } from './with-accounts.js'

const columns = {
  id: (key: Key) => String(key.id),
  name: (key: Key) => key.name,
  workspace: (key: Key) => key.workspace,
  key: (key: Key) => `oi-…${key.lastFour}`,
  'created (UTC)': (key: Key) => showTime(key.createdMs),
  'last used': (key: Key) => showTime(key.usedMs),
  revoked: (key: Key) => showTime(key.revokedMs),
}

export function addKeysCommand(program: Command, dependencies: Dependencies): void {
  const keys = program.command('keys').description('API keys, by which requests are let in')

  const create = keys
    .command('create')
    .description('make a key; it is written to standard output, this once')
    .option('--workspace <name>', 'the workspace that it belongs to', 'default')
    .option('--name <name>', 'what it is for', 'unnamed')
  addSettings(create, ['dataDir']).action(
    (flags: AccountsFlags & { workspace: string; name: string }) => {
      withAccounts(dependencies, flags, (accounts) => {
        const key = accounts.createKey(flags.workspace, flags.name)
        // The key alone on standard output, so that a script can take it.
        printError(
          `Key ${key.id} of the workspace "${key.workspace}". Keep it: it is never shown again.\n`,
        )
        print(`${key.secret}\n`)
      })
    },
  )

  const list = keys
    .command('list')
    .description('show all keys, revoked ones too')
    .option('--workspace <name>', 'only those of this workspace')
    .option('--json', 'for machines; times are milliseconds since 1970')
  addSettings(list, ['dataDir']).action(
    (flags: AccountsFlags & { workspace?: string; json?: boolean }) => {
      withAccounts(dependencies, flags, (accounts) => {
        printList(accounts.listKeys(flags.workspace), columns, flags.json)
      })
    },
  )

  const revoke = keys
    .command('revoke')
    .description('refuse a key from the next request on')
    .argument('<id>', 'as oi keys list shows it', readId)
  addSettings(revoke, ['dataDir']).action((id: number, flags: AccountsFlags) => {
    withAccounts(dependencies, flags, (accounts) => {
      const { name } = accounts.revokeKey(id)
      print(`Key ${id} ("${name}") is revoked.\n`)
    })
  })
}

function readId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('An id is a whole number.')
  return Number(text)
}
