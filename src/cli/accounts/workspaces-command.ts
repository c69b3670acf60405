/**
 * `oi workspaces`: create, list, rename, set-limits, set-budget, credit, usage.
 *
 * @module
 */

import { type Command, Option } from 'commander'
import type { Workspace } from '../../accounts/accounts.js'
import { type Budget, mostBudgetTokens, periods, resetText } from '../../accounts/budget.js'
import { showCredits } from '../../accounts/ledger/money.js'
import type { Limits } from '../../accounts/terms.js'
import type { DailyUsage } from '../../accounts/ledger/usage.js'
import { shellWord } from '../../api/words.js'
import { OiError } from '../../errors.js'
import { usageReport } from '../../http/reply/usage-report.js'
import type { Dependencies } from '../../server/dependencies.js'
import { addSettings } from '../input/setting-options.js'
import { readAmount, readWhole } from '../input/values.js'
import { print, printError } from '../../terminal/print.js'
import { type ListFlags, printList, showTime, wideFlag } from '../output/table.js'
import {
  accountsSettings,
  type AccountsFlags,
  withAccounts,
  withNewAccounts,
} from './with-accounts.js'

type LimitsFlags = AccountsFlags & Partial<Limits>
type CreditFlags = AccountsFlags & { readonly unlimited?: boolean }
type BudgetFlags = AccountsFlags & Partial<Budget> & { readonly unlimited?: boolean }
type Flags = AccountsFlags & ListFlags

const readLimit = readWhole(0, 9_999_999_999)

const columns = {
  id: (workspace: Workspace) => String(workspace.id),
  name: (workspace: Workspace) => workspace.name,
  'balance (credits)': (workspace: Workspace) => showBalance(workspace.balance),
  'budget (tokens)': (workspace: Workspace) => showBudget(workspace.budget),
  'per minute': (workspace: Workspace) => showLimit(workspace.requestsPerMinute),
  'at once': (workspace: Workspace) => showLimit(workspace.concurrent),
  'created (UTC)': (workspace: Workspace) => showTime(workspace.createdMs),
}

const archivedColumn = {
  'archived (UTC)': (workspace: Workspace) => showTime(workspace.archivedMs),
}

const usageColumns = {
  'day (UTC)': (row: DailyUsage) => row.day,
  model: (row: DailyUsage) => row.model,
  requests: (row: DailyUsage) => String(row.requests),
  input: (row: DailyUsage) => String(row.inputTokens),
  output: (row: DailyUsage) => String(row.outputTokens),
  'cost (credits)': (row: DailyUsage) => showCredits(row.cost),
  images: (row: DailyUsage) => String(row.imageTokens),
  cached: (row: DailyUsage) => String(row.cachedTokens),
}

export function addWorkspacesCommand(program: Command, dependencies: Dependencies): void {
  const workspaces = program
    .command('workspaces')
    .description('workspaces, which own the keys: their limits, balance and usage')

  const create = workspaces
    .command('create')
    .description('make a workspace')
    .argument('<name>', 'not yet taken')
  addSettings(create, accountsSettings).action((name: string, flags: AccountsFlags) => {
    withNewAccounts(dependencies, flags, (_accounts, administration) => {
      administration.createWorkspace({ name })
      print(
        `Created the workspace "${name}". Next: oi keys create --workspace ${shellWord(name)}\n`,
      )
    })
  })

  const list = workspaces
    .command('list')
    .description('show all workspaces')
    .option(
      '--json',
      'JSON for programs; times are milliseconds since 1970, a balance is millionths',
    )
    .option(...wideFlag)
    .option('--all', 'archived ones, too')
  addSettings(list, accountsSettings).action((flags: Flags & { all?: boolean }) => {
    withAccounts(dependencies, flags, (accounts) => {
      const all = accounts.workspaces.list()
      const shown = flags.all ? all : all.filter(({ archivedMs }) => archivedMs === null)
      printList(shown, flags.all ? { ...columns, ...archivedColumn } : columns, flags)
      const hidden = all.length - shown.length
      if (hidden > 0 && !flags.json) printError(`(${hidden} archived: --all)\n`)
    })
  })

  const archive = workspaces
    .command('archive')
    .description('refuse the keys of a workspace from the next request on; everything else stays')
    .argument('<name>', 'as oi workspaces list --all shows it')
    .option('--undo', 'take it into use again')
  addSettings(archive, accountsSettings).action(
    (name: string, flags: AccountsFlags & { undo?: boolean }) => {
      withAccounts(dependencies, flags, (_accounts, administration) => {
        const { archivedMs } = administration.changeWorkspace(name, { archived: !flags.undo })
        const state = archivedMs === null ? 'in use again' : 'archived: its keys are refused'
        print(`The workspace "${name}" is ${state}.\n`)
      })
    },
  )

  const limits = workspaces
    .command('set-limits')
    .description('limit the requests of all keys of a workspace, from the next request on')
    .argument('<name>', 'as oi workspaces list shows it')
    .option('--requests-per-minute <n>', 'in any 60 seconds; 0: unlimited', readLimit)
    .option('--concurrent <n>', 'at the same time; 0: unlimited', readLimit)
  addSettings(limits, accountsSettings).action((name: string, flags: LimitsFlags) => {
    if (flags.requestsPerMinute === undefined && flags.concurrent === undefined) {
      throw new OiError('ERR_CONFIG', 'Nothing to set: --requests-per-minute, --concurrent')
    }
    withAccounts(dependencies, flags, (_accounts, administration) => {
      const { requestsPerMinute, concurrent } = flags
      const limits = {
        ...(requestsPerMinute !== undefined && { requestsPerMinute }),
        ...(concurrent !== undefined && { concurrent }),
      }
      print(`${describe(administration.changeWorkspace(name, { limits }))}\n`)
    })
  })

  const rename = workspaces
    .command('rename')
    .description('give a workspace another name; its keys, limits and ledger stay')
    .argument('<name>', 'as oi workspaces list shows it')
    .argument('<new>', 'not yet taken')
  addSettings(rename, accountsSettings).action(
    (name: string, next: string, flags: AccountsFlags) => {
      withAccounts(dependencies, flags, (_accounts, administration) => {
        administration.changeWorkspace(name, { name: next })
        print(`The workspace "${name}" is called "${next}" now.\n`)
      })
    },
  )

  const budget = workspaces
    .command('set-budget')
    .description('limit the tokens of all keys of a workspace in each period')
    .argument('<name>', 'as oi workspaces list shows it')
    .option('--tokens <n>', 'input and output tokens', readWhole(1, mostBudgetTokens))
    .addOption(new Option('--period <which>', 'in UTC').choices(periods))
    .option('--unlimited', 'lift the limit instead')
  addSettings(budget, accountsSettings).action((name: string, flags: BudgetFlags) => {
    const { tokens, period, unlimited } = flags
    const given = tokens !== undefined && period !== undefined
    if (given === (unlimited === true)) {
      throw new OiError('ERR_CONFIG', 'Expected either --tokens and --period, or --unlimited')
    }
    withAccounts(dependencies, flags, (_accounts, administration) => {
      const next = unlimited ? null : { tokens: tokens!, period: period! }
      print(`${describe(administration.changeWorkspace(name, { budget: next }))}\n`)
    })
  })

  const credit = workspaces
    .command('credit')
    .description("add credits to a workspace's balance, which begins at 0 if it was unlimited")
    .argument('<name>', 'as oi workspaces list shows it')
    .argument(
      '[amount]',
      'as 12 or 12.5, at most 6 digits behind the point; -12 takes back',
      readAmount,
    )
    .option('--unlimited', 'lift the limit instead; what is left of the balance is gone')
  addSettings(credit, accountsSettings).action(
    (name: string, credits: number | undefined, flags: CreditFlags) => {
      if ((credits === undefined) === (flags.unlimited === undefined)) {
        throw new OiError('ERR_CONFIG', 'Expected either an amount or --unlimited')
      }
      withAccounts(dependencies, flags, (_accounts, administration) => {
        const workspace =
          credits === undefined
            ? administration.makeUnlimited(name)
            : administration.credit(name, credits)
        print(`${describe(workspace)}\n`)
      })
    },
  )

  const usage = workspaces
    .command('usage')
    .description('show what a workspace has used in the last 31 days, per model and day')
    .argument('<name>', 'as oi workspaces list shows it')
    .option('--json', 'for machines, as GET /v1/usage; amounts are millionths of a credit')
    .option(...wideFlag)
  addSettings(usage, accountsSettings).action((name: string, flags: Flags) => {
    withAccounts(dependencies, flags, (accounts) => {
      const used = accounts.usage(name)
      if (flags.json) {
        print(`${JSON.stringify(usageReport(used), null, 2)}\n`)
        return
      }
      print(`${describe(used.workspace)}\n`)
      printList(used.usage, usageColumns, { wide: flags.wide })
    })
  })
}

function describe(workspace: Workspace): string {
  const { name, requestsPerMinute, concurrent, balance, budget } = workspace
  return (
    `Workspace "${name}": requests per minute ${showLimit(requestsPerMinute)}, ` +
    `concurrent ${showLimit(concurrent)}, balance ${showBalance(balance)}` +
    (budget === null ? '' : `, budget ${showBudget(budget)}`)
  )
}

function showLimit(limit: number): string {
  return limit === 0 ? 'unlimited' : String(limit)
}

function showBalance(balance: number | null): string {
  return balance === null ? 'unlimited' : showCredits(balance)
}

function showBudget(budget: Workspace['budget']): string {
  if (budget === null) return 'unlimited'
  const { tokens, period, usedTokens, endMs } = budget
  return `${usedTokens} of ${tokens} used, anew each ${period} (${resetText(endMs)})`
}
