/**
 * The table of keys.
 *
 * @module
 */

import { useMemo } from 'preact/hooks'
import { capitalized } from '../format.js'
import { Button } from '../parts/button.js'
import { Menu } from '../parts/menu.js'
import { Status, Time, type Tone } from '../parts/small.js'
import { type Column, Table } from '../parts/table.js'
import type { Key, Workspace } from '../wire.js'
import { Remainder } from '../workspaces/remainder.js'
import type { Open } from './page.js'

interface KeyTableProps {
  readonly keys: readonly Key[]
  readonly workspaces: readonly Workspace[]
  readonly onOpen: (open: Open) => void
}

const tones: Readonly<Record<Key['state'], Tone>> = {
  active: 'good',
  blocked: 'warn',
  expired: 'idle',
  revoked: 'idle',
}

export function KeyTable({ keys, workspaces, onOpen }: KeyTableProps) {
  const columns = useMemo(() => columnsOf(workspaces, onOpen), [workspaces])
  return <Table label="API keys" columns={columns} rows={keys} rowKey={({ id }) => id} />
}

function columnsOf(
  workspaces: readonly Workspace[],
  onOpen: (open: Open) => void,
): readonly Column<Key>[] {
  const byId = new Map(workspaces.map((workspace) => [workspace.id, workspace]))
  return [
    {
      name: 'Name',
      head: true,
      by: ({ name }) => name,
      cell: (key) => (
        <>
          <span class="row-name">{key.name}</span>
          <span class="mono faint">{key.hint}</span>
        </>
      ),
    },
    {
      name: 'State',
      by: ({ state }) => state,
      cell: (key) => <Status tone={tones[key.state]}>{capitalized(key.state)}</Status>,
    },
    {
      name: 'Workspace',
      by: ({ workspace }) => workspace,
      cell: (key) => (
        <>
          <a class="row-name" href={`#/workspaces/${key.workspace_id}`}>
            {key.workspace}
          </a>
          <Remainder of={byId.get(key.workspace_id)} />
        </>
      ),
    },
    {
      name: 'Models',
      by: ({ models }) => models?.length ?? Infinity,
      cell: ({ models }) => <ModelNames of={models} />,
    },
    {
      name: 'Last used',
      by: ({ last_used_at: at }) => (at === null ? 0 : Date.parse(at)),
      cell: (key) => <Time at={key.last_used_at} />,
    },
    {
      name: 'Expires',
      by: ({ expires_at: at }) => (at === null ? Infinity : Date.parse(at)),
      cell: (key) => <Time at={key.expires_at} />,
    },
    {
      name: 'Created',
      by: ({ created_at: at }) => Date.parse(at),
      cell: (key) => <Time at={key.created_at} />,
    },
    {
      name: 'Actions',
      silent: true,
      end: true,
      cell: (key) => <Deeds of={key} onOpen={onOpen} />,
    },
  ]
}

function ModelNames({ of }: { readonly of: Key['models'] }) {
  if (of === null) return <span class="faint">all</span>
  const [first] = of
  if (of.length === 1) return <span>{first}</span>
  return (
    <span title={of.join('\n')}>
      {first} <span class="faint">and {of.length - 1} more</span>
    </span>
  )
}

function Deeds({ of: key, onOpen }: { of: Key; onOpen: (open: Open) => void }) {
  if (key.state === 'revoked') return null
  return (
    <span class="row-deeds">
      <Button small label={`Edit key ${key.name}`} onClick={() => onOpen({ what: 'edit', key })}>
        Edit
      </Button>
      <Menu
        label={`More actions for key ${key.name}`}
        deeds={[
          { name: 'Rotate…', act: () => onOpen({ what: 'rotate', key }) },
          {
            name: key.blocked ? 'Unblock…' : 'Block…',
            act: () => onOpen({ what: 'block', key }),
          },
          { name: 'Revoke…', danger: true, act: () => onOpen({ what: 'revoke', key }) },
        ]}
      />
    </span>
  )
}
