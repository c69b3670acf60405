/**
 * Who may administer: the password, the link of the first start, and sessions.
 *
 * Rules
 *   1. Only hashes are stored: of the password (password.ts), the link's token and the sessions'
 *      secrets.
 *   2. A session is identified by its secret alone, which is new at each sign-in. Its CSRF token is
 *      derived from the secret, and fits no other session.
 *   3. A new password ends all sessions, and the link.
 *
 * @module
 */

import { createHmac, randomBytes } from 'node:crypto'
import { type Connection, execute, selectOne } from './store/connection.js'
import { hashBytes, hashSecret } from './keys.js'

/** A session ends after this time without use, or at this age; milliseconds. */
export const sessionIdleMs = 2 * 3_600_000
export const sessionLongestMs = 12 * 3_600_000
/** How long the link of the first start is valid. */
const linkMs = 24 * 3_600_000
/** How often the use of a session is written. */
const seenMs = 60_000

const secretBytes = 32

export interface Session {
  /** The secret in the client's cookie. */
  readonly secret: string
  readonly csrfToken: string
  /** Milliseconds since 1970. */
  readonly expiresMs: number
}

interface SessionRow {
  readonly createdMs: number
  readonly seenMs: number
}

export class AdminAccess {
  readonly #db: Connection

  constructor(db: Connection) {
    this.#db = db
  }

  /** The hash of the password; undefined while none is set. */
  passwordHash(): string | undefined {
    return this.#db.use(() =>
      this.#db.pluck<[], string>('SELECT hash FROM admin_password WHERE id = 1').get(),
    )
  }

  /** Rule 3. @param hash - A result of `hashPassword`. */
  setPassword(hash: string): void {
    this.#db.write(() => {
      this.#db
        .prepare(
          `INSERT INTO admin_password (id, hash, changed_ms) VALUES (1, ?, ?)
           ON CONFLICT (id) DO UPDATE SET hash = excluded.hash, changed_ms = excluded.changed_ms`,
        )
        .run(hash, Date.now())
      this.#db.prepare('DELETE FROM first_sign_in').run()
      this.#db.prepare('DELETE FROM sessions').run()
    })
  }

  /**
   * Makes the token of the link for the first password. If several processes start together, one of
   * them does.
   *
   * @returns Undefined if there is a password, or the link was made before.
   */
  createLink(nowMs = Date.now()): string | undefined {
    const isMade = () =>
      this.passwordHash() !== undefined ||
      this.#db.pluck('SELECT 1 FROM first_sign_in').get() !== undefined
    if (this.#db.use(isMade)) return undefined
    return this.#db.write(() => {
      if (isMade()) return undefined
      const token = newSecret()
      this.#db
        .prepare('INSERT INTO first_sign_in (id, hash, made_ms) VALUES (1, ?, ?)')
        .run(hashBytes(hashSecret(token)), nowMs)
      return token
    })
  }

  /** Whether the token is the link's, which is valid for a day and until a password is set. */
  isLink(token: string, nowMs = Date.now()): boolean {
    return this.#db.use(
      () =>
        this.#db
          .pluck<[Buffer, number], number>(
            'SELECT 1 FROM first_sign_in WHERE hash = ? AND made_ms > ?',
          )
          .get(hashBytes(hashSecret(token)), nowMs - linkMs) !== undefined,
    )
  }

  /** Sets the password by the link, once. @returns False if the link is no longer valid. */
  setFirstPassword(token: string, hash: string): boolean {
    return this.#db.write(() => {
      if (!this.isLink(token)) return false
      this.setPassword(hash)
      return true
    })
  }

  /** Begins a session. */
  beginSession(nowMs = Date.now()): Session {
    const secret = newSecret()
    this.#db.write(() => {
      this.#db
        .prepare('DELETE FROM sessions WHERE created_ms <= ? OR seen_ms <= ?')
        .run(nowMs - sessionLongestMs, nowMs - sessionIdleMs)
      this.#db
        .prepare('INSERT INTO sessions (hash, created_ms, seen_ms) VALUES (?, ?, ?)')
        .run(hashBytes(hashSecret(secret)), nowMs, nowMs)
    })
    return sessionOf(secret, nowMs)
  }

  /** The session of a secret, whose use is noted; undefined if there is none. */
  session(secret: string, nowMs = Date.now()): Session | undefined {
    const hash = hashBytes(hashSecret(secret))
    const sql = 'SELECT created_ms AS createdMs, seen_ms AS seenMs FROM sessions WHERE hash = ?'
    const row = selectOne<SessionRow>(this.#db, sql, hash)
    if (row === undefined) return undefined
    if (row.createdMs + sessionLongestMs <= nowMs || row.seenMs + sessionIdleMs <= nowMs) {
      return undefined
    }
    if (row.seenMs + seenMs <= nowMs) this.#touch(hash, nowMs)
    return sessionOf(secret, row.createdMs)
  }

  endSession(secret: string): void {
    execute(this.#db, 'DELETE FROM sessions WHERE hash = ?', hashBytes(hashSecret(secret)))
  }

  #touch(hash: Buffer, nowMs: number): void {
    try {
      execute(this.#db, 'UPDATE sessions SET seen_ms = ? WHERE hash = ?', nowMs, hash)
    } catch {
      // Another process is writing: the next use will be noted.
    }
  }
}

function newSecret(): string {
  return randomBytes(secretBytes).toString('base64url')
}

/** Rule 2. */
function sessionOf(secret: string, createdMs: number): Session {
  const csrfToken = createHmac('sha256', secret).update('oi csrf').digest('base64url')
  return { secret, csrfToken, expiresMs: createdMs + sessionLongestMs }
}
