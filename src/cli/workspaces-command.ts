/**
 * `oi workspaces`: create, list.
 *
 * @module
 */

import type { Command } from 'commander'
import type { Workspace } from '../accounts/accounts.js'
import type { Dependencies } from './dependencies.js'
import { addSettings } from './setting-options.js'
import { printList, showTime } from './table.js'
import { type AccountsFlags, withAccounts } from './with-accounts.js'

const columns = {
  id: (workspace: Workspace) => String(workspace.id),
  name: (workspace: Workspace) => workspace.name,
  'created (UTC)': (workspace: Workspace) => showTime(workspace.createdMs),
}

export function addWorkspacesCommand(program: Command, dependencies: Dependencies): void {
  const workspaces = program.command('workspaces').description('workspaces, which own the keys')

  const create = workspaces
    .command('create')
    .description('make a workspace')
    .argument('<name>', 'not yet taken')
  addSettings(create, ['dataDir']).action((name: string, flags: AccountsFlags) => {
    withAccounts(dependencies, flags, (accounts) => {
      accounts.createWorkspace(name)
      process.stdout.write(
        `Created the workspace "${name}". Next: oi keys create --workspace ${name}\n`,
      )
    })
  })

  const list = workspaces
    .command('list')
    .description('show all workspaces')
    .option('--json', 'for machines; times are milliseconds since 1970')
  addSettings(list, ['dataDir']).action((flags: AccountsFlags & { json?: boolean }) => {
    withAccounts(dependencies, flags, (accounts) => {
      printList(accounts.listWorkspaces(), columns, flags.json)
    })
  })
}
