/**
 * A connection to PostgreSQL within a thread: made when it is needed, dropped when it fails.
 *
 * Rules
 *   1. A statement that takes longer than its time ends the connection: nobody can tell a slow
 *      network from one that has gone, and what is sent on a new connection waits for nothing.
 *   2. Numbers are JavaScript's: all that the accounts have are whole, and below 2^53.
 *
 * @module
 */

import type Pg from 'pg'
import { serverPackage } from '../../../server-package.js'
import { failureOf, PostgresError } from './failure.js'
import { schemaName } from './schema.js'

/** How long a connection may take, milliseconds: as long as a statement, within these bounds. */
const [leastConnectMs, mostConnectMs] = [1000, 2000]
/** How long a transaction may have nothing to do, milliseconds. */
const idleMs = 5000

/** PostgreSQL's numbers of the types int8 and numeric. */
const wholeNumbers = [20, 1700]

export interface Rows {
  readonly rows: readonly object[]
  readonly count: number
}

/** One connection. */
export interface Session {
  /**
   * Statements run in the order of the calls.
   *
   * @param values - A list of bytes or numbers is an array of PostgreSQL's.
   * @param statementMs - How long it may take, milliseconds. Default: as all.
   * @throws {@link PostgresError}
   */
  query(sql: string, values?: readonly unknown[], statementMs?: number): Promise<Rows>
}

interface PostgresClientOptions {
  /** As `postgres://user:password@host:5432/database`. */
  readonly url: string
  /** How long a statement may take, milliseconds. */
  readonly statementMs: number
  /** Called on each new connection, before any other statement. */
  readonly onConnected?: (session: Session) => Promise<void>
}

export class PostgresClient {
  readonly #options: PostgresClientOptions
  #client: Pg.Client | undefined
  #connecting: Promise<Pg.Client> | undefined

  constructor(options: PostgresClientOptions) {
    this.#options = options
  }

  /** Whether a connection stands. */
  get connected(): boolean {
    return this.#client !== undefined
  }

  /** The present connection, or a new one; its statements fail once it has ended. */
  async session(): Promise<Session> {
    const client = this.#client ?? (await this.#connected())
    return {
      query: (sql, values = [], statementMs = this.#options.statementMs) =>
        this.#query(client, sql, values, statementMs),
    }
  }

  /** On whatever connection there is. @throws {@link PostgresError} */
  readonly query: Session['query'] = async (...call) => (await this.session()).query(...call)

  async #query(
    client: Pg.Client,
    sql: string,
    values: readonly unknown[],
    statementMs: number,
  ): Promise<Rows> {
    const timer = setTimeout(() => this.drop(client), statementMs)
    try {
      const { rows, rowCount } = await client.query<object>(sql, values.map(valueOf))
      return { rows, count: rowCount ?? 0 }
    } catch (error) {
      const failure = failureOf(error)
      // Without a code of PostgreSQL's own, the connection is no longer what it was.
      if (!/^[0-9A-Z]{5}$/.test(failure.code) || /^(08|57P)/.test(failure.code)) this.drop(client)
      throw new PostgresError(failure)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends the connection at once, with whatever runs on it. @param client - Only this one. */
  drop(client = this.#client): void {
    if (client === undefined) return
    if (this.#client === client) this.#client = undefined
    // With a statement under way, it destroys the socket.
    void client.end().catch(() => {})
  }

  async #connected(): Promise<Pg.Client> {
    try {
      return await (this.#connecting ??= this.#connect())
    } catch (error) {
      throw error instanceof PostgresError ? error : new PostgresError(failureOf(error))
    } finally {
      this.#connecting = undefined
    }
  }

  async #connect(): Promise<Pg.Client> {
    const { url, statementMs, onConnected } = this.#options
    const { Client, types } = serverPackage<typeof Pg>('pg', '--accounts')
    const client = new Client({
      ...{ connectionString: url, keepAlive: true },
      connectionTimeoutMillis: Math.min(Math.max(statementMs, leastConnectMs), mostConnectMs),
      ...{ application_name: 'oi', statement_timeout: statementMs },
      // A transaction of a node that cannot be heard any more ends by itself.
      idle_in_transaction_session_timeout: Math.max(idleMs, statementMs),
      types: {
        getTypeParser: ((id: number, format?: 'text' | 'binary') =>
          wholeNumbers.includes(id)
            ? Number
            : (types.getTypeParser(id, format) as unknown)) as typeof types.getTypeParser,
      },
    })
    // Without a listener an error would end the process.
    client.on('error', () => this.drop(client))
    client.on('end', () => this.drop(client))
    try {
      await client.connect()
      await this.#query(client, `SET search_path TO ${schemaName}`, [], statementMs)
      await onConnected?.({
        query: (sql, values = [], ms = statementMs) => this.#query(client, sql, values, ms),
      })
    } catch (error) {
      void client.end().catch(() => {})
      throw error
    }
    this.#client = client
    return client
  }
}

/** What another thread has sent: bytes have lost their class on the way. */
function valueOf(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length)
  return Array.isArray(value) ? value.map(valueOf) : value
}
