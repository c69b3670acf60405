/**
 * Copies accounts from one store into another that has none yet: a file into PostgreSQL, or back.
 *
 * Rules
 *   1. All or nothing: the copy is one transaction, which ends only after the number of rows and the
 *      a sum of every number have been compared, table by table.
 *   2. Ids stay: keys, rows of the ledger and entries of the audit log are those of before. Sessions
 *      and the link of a first sign-in are not copied.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { checkConsistency } from './ledger/consistency.js'
import type { Connection } from './store/connection.js'

const rowsAtOnce = 1000

interface Table {
  readonly key: readonly string[]
  /** Columns with numbers, and others; the key's are among them. */
  readonly numbers: readonly string[]
  readonly others: readonly string[]
}

const tokens = ['input_tokens', 'output_tokens', 'image_tokens', 'cached_tokens']
const usage = ['requests', ...tokens, 'cost']

/** In an order in which each refers to earlier ones. */
const tables: Readonly<Record<string, Table>> = {
  workspaces: {
    key: ['id'],
    numbers: [
      ...['id', 'created_ms', 'requests_per_minute', 'concurrent', 'balance', 'budget_tokens'],
      'archived_ms',
    ],
    others: ['name', 'budget_period'],
  },
  keys: {
    key: ['id'],
    numbers: [
      ...['id', 'workspace_id', 'created_ms', 'used_ms', 'revoked_ms', 'expires_ms', 'blocked_ms'],
    ],
    others: ['name', 'hash', 'last_four', 'models'],
  },
  prices: { key: ['model'], numbers: ['input', 'output', 'image'], others: ['model'] },
  writers: { key: ['id'], numbers: ['id', 'opened_ms', 'written'], others: [] },
  ledger: {
    key: ['writer', 'number'],
    numbers: [
      ...['writer', 'number', 'workspace_id', 'time_ms', ...tokens, 'cost'],
      ...['amount', 'key_id', 'rows'],
    ],
    others: ['kind', 'model'],
  },
  usage: {
    key: ['workspace_id', 'day', 'model'],
    numbers: ['workspace_id', 'day', ...usage],
    others: ['model'],
  },
  key_usage: {
    key: ['key_id', 'day', 'model'],
    numbers: ['key_id', 'day', ...usage],
    others: ['model'],
  },
  hour_usage: {
    key: ['hour', 'workspace_id', 'key_id', 'model'],
    numbers: ['hour', 'workspace_id', 'key_id', ...usage],
    others: ['model'],
  },
  spools: { key: ['id'], numbers: ['taken_ms'], others: ['id'] },
  set_aside: { key: ['id'], numbers: ['id', 'time_ms'], others: ['reason', 'booking'] },
  retry_keys: {
    key: ['workspace_id', 'key', 'item'],
    numbers: ['workspace_id', 'item', 'writer', 'number', 'until_ms'],
    others: ['key', 'request'],
  },
  admin_password: { key: ['id'], numbers: ['id', 'changed_ms'], others: ['hash'] },
  audit: {
    key: ['id'],
    numbers: ['id', 'time_ms'],
    others: ['actor', 'actor_detail', 'action', 'target', 'target_name', 'before', 'after'],
  },
}

export interface CopiedTable {
  readonly table: string
  readonly rows: number
}

/**
 * @returns The rows of each table.
 * @throws {@link OiError} `ERR_ACCOUNTS` if the target has accounts, or is not equal afterwards;
 *   `ERR_OVERLOADED` if one of them cannot be used. The target is as before then.
 */
export function copyAccounts(source: Connection, target: Connection): readonly CopiedTable[] {
  return source.read(() =>
    target.write(() => {
      if (target.pluck<[], number>('SELECT count(*) FROM workspaces').get()! > 0) {
        throw new OiError('ERR_ACCOUNTS', 'There are accounts already: they are copied to none')
      }
      const copied = Object.entries(tables).map(([name, table]) => {
        copyTable(source, target, name, table)
        if (name === 'keys') copyReplacements(source, target)
        const rows = compare(source, target, name, table)
        if (table.key.join() === 'id' && table.numbers.includes('id')) target.continueIds(name)
        return { table: name, rows }
      })
      const { faults } = checkConsistency(target)
      if (faults.length > 0) throw new OiError('ERR_ACCOUNTS', faults.join('; '))
      return copied
    }),
  )
}

function copyTable(source: Connection, target: Connection, name: string, table: Table): void {
  const columns = [...table.numbers, ...table.others]
  const row = `(${columns.map(() => '?').join(', ')})`
  const select = `SELECT ${columns.join(', ')} FROM ${name}`
  const keys = table.key.join(', ')
  const after = `WHERE (${keys}) > (${table.key.map(() => '?').join(', ')})`
  let last: unknown[] = []
  for (;;) {
    const rows = source
      .prepare<unknown[], Record<string, unknown>>(
        `${select} ${last.length === 0 ? '' : after} ORDER BY ${keys} LIMIT ${rowsAtOnce}`,
      )
      .all(...last)
    if (rows.length === 0) return
    target
      .prepare(
        `INSERT INTO ${name} (${columns.join(', ')}) VALUES ${rows.map(() => row).join(', ')}`,
      )
      .run(...rows.flatMap((values) => columns.map((column) => values[column])))
    last = table.key.map((column) => rows.at(-1)![column])
  }
}

/** A key may be replaced by one that comes after it. */
function copyReplacements(source: Connection, target: Connection): void {
  const rows = source
    .prepare<[], { id: number; by: number }>(
      'SELECT id, replaced_by AS "by" FROM keys WHERE replaced_by IS NOT NULL',
    )
    .all()
  for (const { id, by } of rows) {
    target.prepare('UPDATE keys SET replaced_by = ? WHERE id = ?').run(by, id)
  }
}

/** @returns The number of rows. @throws {@link OiError} `ERR_ACCOUNTS` on any difference. */
function compare(source: Connection, target: Connection, name: string, table: Table): number {
  // Of remainders: a sum of times would grow beyond SQLite's whole numbers.
  const sums = table.numbers.map((column, i) => `coalesce(sum(${column} % 1000003), 0) AS sum_${i}`)
  const select = `SELECT ${['count(*) AS found', ...sums].join(', ')} FROM ${name}`
  const [before, after] = [source, target].map((db) =>
    db.prepare<[], Record<string, number>>(select).get()!,
  ) as [Record<string, number>, Record<string, number>]
  for (const [column, value] of Object.entries(before)) {
    if (value === after[column]) continue
    throw new OiError(
      'ERR_ACCOUNTS',
      `The copy of ${name} differs (${column}: ${value}, ${after[column]}): nothing was copied`,
    )
  }
  return before['found']!
}
