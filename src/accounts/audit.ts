/**
 * The audit log: who changed what, from what, to what, and when.
 *
 * Entries are written in the transaction of the change (administration.ts), and triggers prevent
 * changing or deleting them.
 *
 * @module
 */

import { type Connection, execute, selectAll } from './store/connection.js'

/** The author of a change. */
export interface Actor {
  /** A session of the admin API, a command of `oi`, or the server itself. */
  readonly kind: 'console' | 'command' | 'server'
  /** The client's address, or the system's user. */
  readonly detail: string
}

/** The action, and its target. */
export interface Deed {
  /** Such as `key.rotate`. */
  readonly action: string
  /** Such as `key 3`. */
  readonly target: string
  /** The target's name, for people; `''` if it has none. */
  readonly name: string
}

export interface AuditEntry extends Deed {
  readonly id: number
  readonly timeMs: number
  readonly actor: Actor['kind']
  readonly actorDetail: string
  /** The target before and after, as JSON; null: nothing. */
  readonly before: unknown
  readonly after: unknown
}

type Row = Omit<AuditEntry, 'before' | 'after'> & {
  readonly before: string | null
  readonly after: string | null
}

export interface AuditPage {
  /** Newest first. */
  readonly entries: readonly AuditEntry[]
  /** Whether there are older entries. */
  readonly more: boolean
}

export class Audit {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
  }

  /** @throws {@link OiError} `ERR_OVERLOADED` if the entry cannot be written. */
  write(actor: Actor, { action, target, name }: Deed, before: unknown, after: unknown): void {
    execute(
      this.#db,
      `INSERT INTO audit (time_ms, actor, actor_detail, action, target, target_name, before,
         after) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[Date.now(), actor.kind, actor.detail, action, target, name],
      ...[textOf(before), textOf(after)],
    )
  }

  /** @param before - Only entries with a smaller id. @param limit - At least 1. */
  page(limit: number, before = Number.MAX_SAFE_INTEGER): AuditPage {
    const sql = `SELECT id, time_ms AS timeMs, actor, actor_detail AS actorDetail, action, target,
        target_name AS name, before, after
      FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?`
    const rows = selectAll<Row>(this.#db, sql, before, limit + 1)
    const entries = rows.slice(0, limit).map((row) => ({
      ...row,
      before: valueOf(row.before),
      after: valueOf(row.after),
    }))
    return { entries, more: rows.length > limit }
  }
}

const textOf = (value: unknown) =>
  value === undefined || value === null ? null : JSON.stringify(value)
const valueOf = (text: string | null): unknown => (text === null ? null : JSON.parse(text))
