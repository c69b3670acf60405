/**
 * `oi keys`: create, list, change, rotate, revoke.
 *
 * @module
 */

import { type Command, InvalidArgumentError } from 'commander'
import type { Key } from '../../accounts/accounts.js'
import { keyState } from '../../accounts/api-keys.js'
import { readTime, timeExample } from '../../api/times.js'
import { OiError } from '../../errors.js'
import type { Dependencies } from '../../server/dependencies.js'
import { addSettings } from '../input/setting-options.js'
import { readWhole, together } from '../input/values.js'
import { print, printError } from '../../terminal/print.js'
import { type ListFlags, printList, showTime, wideFlag } from '../output/table.js'
import { accountsSettings, type AccountsFlags, withAccounts } from './with-accounts.js'

interface CreateFlags extends AccountsFlags {
  readonly workspace: string
  readonly name: string
  readonly expires?: number
  readonly model?: readonly string[]
}

interface ChangeFlags extends AccountsFlags {
  readonly name?: string
  readonly expires?: number | null
  readonly model?: readonly string[]
  readonly allModels?: boolean
  readonly block?: boolean
  readonly unblock?: boolean
}

const columns = {
  id: (key: Key) => String(key.id),
  name: (key: Key) => key.name,
  workspace: (key: Key) => key.workspace,
  key: (key: Key) => `oi-…${key.lastFour}`,
  state: (key: Key) => keyState(key),
  'last used (UTC)': (key: Key) => showTime(key.usedMs),
  expires: (key: Key) => showTime(key.expiresMs),
  created: (key: Key) => showTime(key.createdMs),
}

export function addKeysCommand(program: Command, dependencies: Dependencies): void {
  const keys = program.command('keys').description('API keys')

  const create = keys
    .command('create')
    .description('make a key and print it, once only')
    .option('--workspace <name>', 'the workspace that it belongs to', 'default')
    .option('--name <name>', 'what it is for', 'unnamed')
    .option('--expires <time>', 'when it expires, as 2026-12-31 (UTC)', readExpiry)
    .option('--model <name>', 'a model that it may use; repeatable', together)
  addSettings(create, accountsSettings).action((flags: CreateFlags) => {
    withAccounts(dependencies, flags, (accounts, administration) => {
      const { id } = accounts.workspaces.get(flags.workspace)
      const { name, expires = null, model: models = null } = flags
      const key = administration.createKey(id, { name, expiresMs: expires, models })
      // The key alone on standard output, so that a script can take it.
      printError(
        `Key ${key.id} of the workspace "${key.workspace}". Keep it: it is never shown again.\n`,
      )
      print(`${key.secret}\n`)
    })
  })

  const list = keys
    .command('list')
    .description('show all keys, revoked ones too')
    .option('--workspace <name>', 'only those of this workspace')
    .option('--json', 'JSON for programs; times are milliseconds since 1970')
    .option(...wideFlag)
  addSettings(list, accountsSettings).action(
    (flags: AccountsFlags & ListFlags & { workspace?: string }) => {
      const { workspace } = flags
      withAccounts(dependencies, flags, (accounts) => {
        const shown = (key: Key) => workspace === undefined || key.workspace === workspace
        printList(accounts.keys.list().filter(shown), columns, flags)
      })
    },
  )

  const change = keys
    .command('change')
    .description('rename a key, block it, or set its expiry and models, from the next request on')
    .argument('<id>', 'as oi keys list shows it', readId)
    .option('--name <name>', 'what it is for')
    .option('--expires <time>', 'when it expires, as 2026-12-31 (UTC), or never', readEnd)
    .option('--model <name>', 'a model that it may use; repeatable', together)
    .option('--all-models', 'it may use all models')
    .option('--block', 'refuse it until it is unblocked')
    .option('--unblock', 'let it in again')
  addSettings(change, accountsSettings).action((id: number, flags: ChangeFlags) => {
    const { name, expires, model, allModels, block, unblock } = flags
    if ((block && unblock) || (model && allModels)) {
      throw new OiError('ERR_CONFIG', 'Expected one of two opposite flags, not both')
    }
    withAccounts(dependencies, flags, (_accounts, administration) => {
      const terms = {
        ...(name !== undefined && { name }),
        ...(expires !== undefined && { expiresMs: expires }),
        ...(model !== undefined && { models: model }),
        ...(allModels && { models: null }),
      }
      const blocked = block || unblock ? block === true : undefined
      if (Object.keys(terms).length === 0 && blocked === undefined) {
        throw new OiError('ERR_CONFIG', 'Nothing to change: see oi keys change --help')
      }
      const key = administration.changeKey(id, terms, blocked)
      print(`Key ${id} ("${key.name}") is ${keyState(key)}.\n`)
    })
  })

  const rotate = keys
    .command('rotate')
    .description('replace a key; the old key stays valid for a while')
    .argument('<id>', 'as oi keys list shows it', readId)
    .option('--overlap-hours <n>', 'how long both are valid, up to 2160', readWhole(0, 2160), 24)
  addSettings(rotate, accountsSettings).action(
    (id: number, flags: AccountsFlags & { overlapHours: number }) => {
      withAccounts(dependencies, flags, (_accounts, administration) => {
        const key = administration.rotateKey(id, 3_600_000 * flags.overlapHours)
        printError(
          `Key ${key.id} ("${key.name}") takes the place of key ${id}, which is valid for ` +
            `${flags.overlapHours} hours more. Keep it: it is never shown again.\n`,
        )
        print(`${key.secret}\n`)
      })
    },
  )

  const revoke = keys
    .command('revoke')
    .description('refuse a key for good, from the next request on')
    .argument('<id>', 'as oi keys list shows it', readId)
  addSettings(revoke, accountsSettings).action((id: number, flags: AccountsFlags) => {
    withAccounts(dependencies, flags, (_accounts, administration) => {
      const { name } = administration.revokeKey(id)
      print(`Key ${id} ("${name}") is revoked.\n`)
    })
  })
}

function readExpiry(text: string): number {
  const ms = readTime(text)
  if (ms !== undefined) return ms
  throw new InvalidArgumentError(`Expected a time as ${timeExample}.`)
}

const readEnd = (text: string) => (text === 'never' ? null : readExpiry(text))

const readId = readWhole(0, 999_999_999_999_999)
