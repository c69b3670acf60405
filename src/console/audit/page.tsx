/**
 * The audit log: who changed what, with the values before and after.
 *
 * @module
 */

import { count, counted, credits } from '../format.js'
import { trailSize, useTrail } from '../parts/pager.js'
import { ExactTime, PageHead } from '../parts/small.js'
import { Empty, LoadedPart } from '../parts/states.js'
import { type Column, Table } from '../parts/table.js'
import { withQuery } from '../server.js'
import { useLoad } from '../use-load.js'
import type { Audit, AuditEntry } from '../wire.js'

const actors: Readonly<Record<AuditEntry['actor'], string>> = {
  console: 'Admin session',
  command: 'Command',
  server: 'Server',
}

const columns: readonly Column<AuditEntry>[] = [
  {
    name: 'Time (UTC)',
    head: true,
    cell: ({ time }) => <ExactTime at={time} />,
  },
  {
    name: 'Who',
    cell: ({ action, actor, actor_detail: detail }) => (
      <>
        <span class="row-name">
          {action === 'password.wrong' ? 'Nobody signed in' : actors[actor]}
        </span>
        <span class="sub mono faint">{detail}</span>
      </>
    ),
  },
  { name: 'Did', cell: ({ action }) => <span class="mono">{action}</span> },
  {
    name: 'To',
    cell: ({ target, target_name: name }) => (
      <>
        <span class="row-name">{name || target}</span>
        {name !== '' && <span class="sub faint">{target}</span>}
      </>
    ),
  },
  { name: 'Before and after', cell: (entry) => <Change of={entry} /> },
]

export function AuditPage() {
  const { before, isFirst, pager } = useTrail<number>('the audit log')
  const audit = useLoad<Audit>(withQuery('/audit', { before, limit: trailSize }))
  return (
    <>
      <PageHead
        title="Audit"
        about="Every change of keys, workspaces, prices, models and the password."
      />
      <LoadedPart of={audit}>
        {({ entries, next_before: next, unbooked }) => (
          <>
            {unbooked.requests > 0 && (
              <p class="note">
                <span>
                  Answers in the playground since the server started that were charged to no
                  workspace: {counted(unbooked.requests, 'request')},{' '}
                  {counted(unbooked.input_tokens, 'input token')},{' '}
                  {counted(unbooked.output_tokens, 'output token')}.
                </span>
              </p>
            )}
            {entries.length === 0 && isFirst ? (
              <Empty icon="audit" title="Nothing has been changed yet" />
            ) : (
              <Table
                label="Audit log"
                columns={columns}
                rows={entries}
                rowKey={({ id }) => id}
                pageSize={trailSize}
              />
            )}
            {pager(entries, next, audit.loading)}
          </>
        )}
      </LoadedPart>
    </>
  )
}

/** Members that differ, before and after. */
function Change({ of: { before, after } }: { readonly of: AuditEntry }) {
  const [was, is] = [membersOf(before), membersOf(after)]
  const names = [...new Set([...was.keys(), ...is.keys()])]
  const changed = names.filter((name) => was.get(name) !== is.get(name))
  if (changed.length === 0) return <span class="faint">–</span>
  return (
    <ul class="change">
      {changed.map((name) => (
        <li key={name}>
          {name !== '' && <span class="faint">{name} </span>}
          {was.has(name) && <del>{was.get(name)}</del>}
          {was.has(name) && is.has(name) && <span aria-hidden="true"> → </span>}
          {is.has(name) && <ins>{is.get(name)}</ins>}
        </li>
      ))}
    </ul>
  )
}

/** Members by path, as `limits.concurrent`; a value that is no object is under ''. */
function membersOf(value: unknown, prefix = ''): Map<string, string> {
  const members = new Map<string, string>()
  if (value === null || value === undefined) {
    if (prefix !== '') members.set(prefix, absent[prefix] ?? 'none')
    return members
  }
  if (typeof value !== 'object' || Array.isArray(value)) {
    members.set(prefix, shown(prefix, value))
    return members
  }
  for (const [name, member] of Object.entries(value)) {
    const inner = membersOf(member, prefix === '' ? name : `${prefix}.${name}`)
    for (const [path, text] of inner) members.set(path, text)
  }
  return members
}

/** What the absence of a member means. */
const absent: Readonly<Record<string, string>> = {
  models: 'all',
  expires_at: 'never',
  balance: 'no limit',
}
/** Members whose 0 means no limit. */
const limits = ['requests_per_minute', 'concurrent']

/** Members in millionths of a credit: a balance, and prices of a million tokens. */
const money: Readonly<Record<string, string>> = {
  balance: 'credits',
  input: 'credits per million tokens',
  output: 'credits per million tokens',
  image: 'credits per million tokens',
}

function shown(name: string, value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'number') return JSON.stringify(value)
  if (value === 0 && limits.includes(name)) return 'no limit'
  const unit = money[name]
  return unit === undefined ? count(value) : `${credits(value)} ${unit}`
}
