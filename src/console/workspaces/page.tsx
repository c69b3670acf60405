/**
 * The list of workspaces, whose keys share limits, a budget and a balance.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { count } from '../format.js'
import { goTo, setQuery, usePlace } from '../navigation.js'
import { Button } from '../parts/button.js'
import { FormDialog } from '../parts/dialog.js'
import { CheckField, SearchField, TextField, useSearch, useText } from '../parts/field.js'
import { PageHead, Time } from '../parts/small.js'
import { Empty, LoadedPart } from '../parts/states.js'
import { type Column, Table } from '../parts/table.js'
import { call } from '../server.js'
import { useAction, useLoad } from '../use-load.js'
import type { Workspace, Workspaces } from '../wire.js'
import { Amount, BudgetBar } from './remainder.js'

const columns: readonly Column<Workspace>[] = [
  {
    name: 'Name',
    head: true,
    by: ({ name }) => name,
    cell: ({ id, name, archived_at: archivedAt }) => (
      <>
        <a class="row-name" href={`#/workspaces/${id}`}>
          {name}
        </a>
        {archivedAt !== null && <span class="tag">archived</span>}
      </>
    ),
  },
  {
    name: 'Active keys',
    end: true,
    by: (workspace) => workspace.active_keys,
    cell: (workspace) => (
      <a
        href={`#/keys?workspace=${workspace.id}`}
        aria-label={`${count(workspace.active_keys)} active keys of ${workspace.name}`}
      >
        {count(workspace.active_keys)}
      </a>
    ),
  },
  {
    name: 'Budget',
    by: ({ budget }) => (budget === null ? -1 : budget.used_tokens / budget.tokens),
    cell: ({ budget }) =>
      budget === null ? <span class="faint">none</span> : <BudgetBar of={budget} />,
  },
  {
    name: 'Balance',
    end: true,
    by: ({ balance }) => balance ?? Infinity,
    cell: ({ balance }) => <Amount of={balance} />,
  },
  {
    name: 'Requests per minute',
    end: true,
    by: ({ limits }) => limits.requests_per_minute || Infinity,
    cell: ({ limits }) => <Limit of={limits.requests_per_minute} />,
  },
  {
    name: 'Concurrent requests',
    end: true,
    by: ({ limits }) => limits.concurrent || Infinity,
    cell: ({ limits }) => <Limit of={limits.concurrent} />,
  },
  {
    name: 'Created',
    by: (workspace) => Date.parse(workspace.created_at),
    cell: (workspace) => <Time at={workspace.created_at} />,
  },
]

function Limit({ of }: { readonly of: number }) {
  return of === 0 ? <span class="faint">no limit</span> : <>{count(of)}</>
}

export function WorkspacesPage() {
  const workspaces = useLoad<Workspaces>('/workspaces')
  const [creating, setCreating] = useState(false)
  const fits = useSearch()
  const withArchived = usePlace().query.get('archived') === 'yes'
  return (
    <>
      <PageHead
        title="Workspaces"
        about="All keys of a workspace share its limits, budget and balance."
      >
        <Button
          kind="main"
          icon="plus"
          disabled={workspaces.data === undefined}
          onClick={() => setCreating(true)}
        >
          Create workspace
        </Button>
      </PageHead>
      <LoadedPart of={workspaces}>
        {({ workspaces: all }) => {
          if (all.length === 0)
            return <Empty icon="workspaces" title="There are no workspaces yet" />
          const archived = all.filter(({ archived_at: at }) => at !== null).length
          const shown = all.filter(
            ({ name, archived_at: at }) => fits(name) && (withArchived || at === null),
          )
          return (
            <>
              {(all.length > 8 || archived > 0) && (
                <div class="filters" role="search">
                  {all.length > 8 && <SearchField placeholder="Name" />}
                  {archived > 0 && (
                    <CheckField
                      label={`With the archived (${archived})`}
                      checked={withArchived}
                      onChecked={(checked) => setQuery({ archived: checked ? 'yes' : '' })}
                    />
                  )}
                </div>
              )}
              {shown.length === 0 ? (
                <Empty icon="workspaces" title="No workspace fits" />
              ) : (
                <Table label="Workspaces" columns={columns} rows={shown} rowKey={({ id }) => id} />
              )}
            </>
          )
        }}
      </LoadedPart>
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
    </>
  )
}

function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, nameField] = useText()
  const [tried, setTried] = useState(false)
  const mistake = name.trim() === '' ? 'Give it a name.' : undefined
  const create = useAction(async () => {
    setTried(true)
    if (mistake !== undefined) return
    const body = { name: name.trim() }
    const { id } = await call<Workspace>('/workspaces', { method: 'POST', body })
    goTo(`/workspaces/${id}`)
  })
  return (
    <FormDialog title="Create workspace" deed="Create workspace" action={create} onClose={onClose}>
      <TextField
        label="Name"
        {...nameField}
        error={tried ? mistake : undefined}
        hint="Limits, budget and balance are set on its page, which opens next."
        input={{ maxLength: 100, autofocus: true }}
      />
    </FormDialog>
  )
}
