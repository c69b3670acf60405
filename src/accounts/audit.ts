/**
 * The log of changes: who changed what, from what, to what, and when.
 *
 * Entries are written in the transaction of the change (administration.ts), and triggers keep
 * them from being changed or deleted.
 *
 * @module
 */

import type { Connection } from './connection.js'

/** Who makes a change. */
export interface Actor {
  /** A session of the admin API, a command of `oi`, or the server by itself. */
  readonly kind: 'console' | 'command' | 'server'
  /** The address of the client, or the user of the system. */
  readonly detail: string
}

/** What is done to what. */
export interface Deed {
  /** As `key.rotate`. */
  readonly action: string
  /** As `key 3`. */
  readonly target: string
  /** What it is called, for people; `''` where it has no name. */
  readonly name: string
}

export interface AuditEntry extends Deed {
  readonly id: number
  readonly timeMs: number
  readonly actor: Actor['kind']
  readonly actorDetail: string
  /** What was changed, before and after, as JSON can have it; null: nothing. */
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
  /** Whether there are older ones. */
  readonly more: boolean
}

export class Audit {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
  }

  /** @throws {@link OiError} `ERR_OVERLOADED` if it cannot be written. */
  write(actor: Actor, { action, target, name }: Deed, before: unknown, after: unknown): void {
    this.#db.use(() =>
      this.#db
        .prepare(
          `INSERT INTO audit (time_ms, actor, actor_detail, action, target, target_name, before,
             after) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(
          ...[Date.now(), actor.kind, actor.detail, action, target, name],
          ...[textOf(before), textOf(after)],
        ),
    )
  }

  /** @param before - Only entries with a smaller id. @param limit - At least 1. */
  page(limit: number, before = Number.MAX_SAFE_INTEGER): AuditPage {
    const rows = this.#db.use(() =>
      this.#db
        .prepare<[number, number], Row>(
          `SELECT id, time_ms AS timeMs, actor, actor_detail AS actorDetail, action, target,
                  target_name AS name, before, after
           FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?`,
        )
        .all(before, limit + 1),
    )
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
