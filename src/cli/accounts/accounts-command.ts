/**
 * `oi accounts`: check, compact; copy is in copy-command.ts.
 *
 * @module
 */

import { join } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { Agreement, Consistency } from '../../accounts/ledger/consistency.js'
import { showCredits } from '../../accounts/ledger/money.js'
import { readDay } from '../../api/times.js'
import { counted } from '../../api/words.js'
import { OiError } from '../../errors.js'
import { type CommandDependencies, exitCodes } from '../exit-codes.js'
import { printError } from '../../terminal/print.js'
import { addSettings } from '../input/setting-options.js'
import { type ListFlags, printList, wideFlag } from '../output/table.js'
import { addCopyCommand } from './copy-command.js'
import { accountsSettings, type AccountsFlags, withAccounts } from './with-accounts.js'

type CompactFlags = AccountsFlags & {
  readonly before: number
  readonly export?: string
  readonly shrink?: boolean
}

const agreementColumns = {
  workspace: (found: Agreement) => found.workspace,
  'balance (credits)': ({ balance }: Agreement) =>
    balance === null ? 'unlimited' : showCredits(balance),
  'sum of rows': (found: Agreement) => showCredits(found.amounts),
  'cost of rows': (found: Agreement) => showCredits(found.cost),
  'cost of usage': (found: Agreement) => showCredits(found.usageCost),
  'answers with rows': (found: Agreement) => String(found.rows),
  answers: (found: Agreement) => String(found.requests),
}

/** Shows the result of a check; faults fail the command. */
export function showConsistency(
  { workspaces, faults, setAside }: Consistency,
  flags: ListFlags,
  { done }: CommandDependencies,
): void {
  printList(workspaces, agreementColumns, flags)
  if (setAside > 0) {
    const booked = counted(setAside, 'booking')
    printError(`${booked} could not be made: see the table set_aside of accounts.db\n`)
  }
  for (const fault of faults) printError(`${fault}\n`)
  if (faults.length > 0) done(exitCodes.failure)
}

export function addAccountsCommand(program: Command, dependencies: CommandDependencies): void {
  const accounts = program
    .command('accounts')
    .description('the file that holds workspaces, keys and the ledger')

  const check = accounts
    .command('check')
    .description('check balances against the ledger, and the ledger against daily usage')
    .option('--json', 'JSON for programs; amounts are millionths of a credit')
    .option(...wideFlag)
  addSettings(check, accountsSettings).action((flags: AccountsFlags & ListFlags) => {
    withAccounts(dependencies, flags, (accounts) => {
      showConsistency(accounts.check(), flags, dependencies)
    })
  })

  const compact = accounts
    .command('compact')
    .description(
      "write the ledger's rows before a day to a file of JSON lines, and put their sums in their place",
    )
    .requiredOption(
      '--before <date>',
      'the first day whose rows stay, UTC, as 2026-01-31',
      readBegun,
    )
    .option('--export <file>', 'file to write; by default beside the ledger, named after the day')
    .option('--shrink', 'shrink the ledger file; by default its free space is reused')
  addSettings(compact, accountsSettings).action((flags: CompactFlags) => {
    withAccounts(dependencies, flags, (accounts, administration, dataDir) => {
      const day = new Date(flags.before).toISOString().slice(0, 10)
      const path = flags.export ?? join(dataDir, `ledger-before-${day}.jsonl`)
      const { rows, closings } = accounts.compact(flags.before, path, flags.shrink)
      const deed = { action: 'ledger.compact', target: 'ledger', name: '' }
      administration.record(deed, null, { before: day, export: path, rows, closings })
      process.stdout.write(`${counted(rows, 'row')} moved to ${path}, ${closings} replace them.\n`)
    })
  })

  addCopyCommand(accounts, dependencies)
}

/** @throws {@link OiError} `ERR_CONFIG` for a day in the future, whose rows are yet to come. */
function readBegun(text: string): number {
  const ms = readDay(text)
  if (ms === undefined) throw new InvalidArgumentError('Expected a day as 2026-01-31.')
  if (ms > Date.now()) throw new OiError('ERR_CONFIG', `--before: ${text} has not begun yet`)
  return ms
}
