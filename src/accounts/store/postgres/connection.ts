/**
 * PostgreSQL as a connection: the calls of commands, administrators, and of what a node sees for
 * the first time. They block their caller, as SQLite's do, while a thread makes them; what every
 * request needs is in memory, and bookings have a thread of their own (writer.ts).
 *
 * Rules
 *   1. Of changes by others, a node's thread asks every 150 ms, on a connection of its own: a lost
 *      notification or a connection that died silently is no exception then. Without an answer for
 *      most of a second nothing is certain any more: what is remembered counts for `graceMs`.
 *   2. After a failure calls fail at once for a moment, and as long as nothing is heard: an event loop
 *      does not wait for each.
 *   3. `write()` holds one advisory lock: the changes of administrators are one after the other, on
 *      all nodes.
 *
 * @module
 */

import { MessageChannel, Worker } from 'node:worker_threads'
import { OiError } from '../../../errors.js'
import { serverPackage } from '../../../server-package.js'
import type { Connection, Statement } from '../connection.js'
import { unavailable } from '../store-errors.js'
import type { Call, CallReply, CallsThreadData } from './calls-thread.js'
import { isLasting, PostgresError } from './failure.js'
import { changesLock, schemaName } from './schema.js'
import { Signals } from './signals.js'
import { toPostgres } from './sql.js'

const watchMs = 150
/** After this time without an answer, changes may have been missed. With the rest of it: a second. */
const doubtMs = 800
/** How long calls fail at once after a failure, milliseconds. */
const pauseMs = 500
/** How long an opening may take, migrations included, milliseconds. */
const openingMs = 60_000
/** Calls of an event loop, and those of a command; milliseconds. */
const servingMs = 1000
const commandMs = 30_000
/** More than a statement may take: its thread says why it failed. */
const replyMs = 3000

const silent = new PostgresError({ message: 'PostgreSQL does not answer', code: '' })

interface PostgresOptions {
  readonly url: string
  /** How long what was read may be used while PostgreSQL cannot be asked, milliseconds. */
  readonly graceMs: number
  /** Whether an event loop makes the calls, which must not wait for long. */
  readonly serving: boolean
}

export class PostgresConnection implements Connection {
  readonly graceMs: number
  readonly remote = true
  readonly forUpdate = ' FOR UPDATE'
  /** Of these accounts, wherever their database moves. */
  readonly id: string
  readonly #serving: boolean
  readonly #statementMs: number
  readonly #signals = new Signals()
  readonly #worker: Worker
  readonly #port
  #calls = 0
  #transactions = 0
  #transaction = 0
  #depth = 0
  #openings = 1
  #failingSinceMs: number | undefined
  #failedAtMs = -Infinity
  #failure: unknown
  #doubted = false
  #closed = false

  /**
   * @throws {@link OiError} `ERR_ACCOUNTS` if the accounts cannot be used, `ERR_OVERLOADED` if they
   *   cannot be used now, `ERR_PACKAGE_NOT_FOUND` without `pg`.
   */
  constructor({ url, graceMs, serving }: PostgresOptions) {
    // Where it is missing, it is said here: the thread would take that for a failure that passes.
    serverPackage('pg', '--accounts')
    this.graceMs = graceMs
    this.#serving = serving
    this.#statementMs = serving ? servingMs : commandMs
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    const data: CallsThreadData = {
      ...{ url, buffer: this.#signals.buffer, port: port2, statementMs: this.#statementMs },
      watchMs: serving ? watchMs : 0,
    }
    this.#worker = new Worker(new URL('calls-thread.js', import.meta.url), {
      execArgv: [],
      workerData: data,
      transferList: [port2],
    })
    this.#worker.unref()
    port1.unref()
    // Its calls then fail by their time.
    this.#worker.on('error', () => {})
    const opened = this.#hear(openingMs, () => true)
    if (opened?.kind === 'opened') {
      this.id = opened.id
      return
    }
    this.close()
    if (opened?.kind === 'unusable') throw new OiError('ERR_ACCOUNTS', opened.message)
    const failure = new PostgresError(opened?.kind === 'failure' ? opened.failure : silent)
    if (!isLasting(failure)) throw unavailable('opened', failure)
    const message = `Cannot open the accounts: ${failure.message}`
    throw new OiError('ERR_ACCOUNTS', message, { cause: failure })
  }

  get closed(): boolean {
    return this.#closed
  }

  get openings(): number {
    return this.#openings
  }

  get failingMs(): number {
    const now = performance.now()
    const calls = this.#failingSinceMs === undefined ? 0 : now - this.#failingSinceMs
    return Math.max(calls, this.#serving && this.#isSilent ? this.#signals.unknownForMs : 0)
  }

  /** Rule 1: whether nothing has been heard for so long that changes may be missing. */
  get #isSilent(): boolean {
    return this.#signals.unknownForMs > doubtMs
  }

  prepare<Parameters extends unknown[], Result = unknown>(
    sql: string,
  ): Statement<Parameters, Result> {
    const all = (...values: Parameters) => this.#call(sql, values) as Result[]
    return { all, get: (...values) => all(...values)[0], run: all }
  }

  pluck<Parameters extends unknown[], Result>(sql: string): Statement<Parameters, Result> {
    const all = (...values: Parameters) =>
      this.#call(sql, values).map((row) => Object.values(row)[0] as Result)
    return { all, get: (...values) => all(...values)[0], run: all }
  }

  use<T>(calls: () => T): T {
    try {
      const result = calls()
      if (this.#depth === 0) this.#failingSinceMs = undefined
      return result
    } catch (error) {
      if (!(error instanceof PostgresError)) throw error
      this.#failingSinceMs ??= performance.now()
      throw unavailable('used', error)
    }
  }

  write<T>(calls: () => T): T {
    return this.#within('BEGIN', calls, () =>
      this.#call('SELECT pg_advisory_xact_lock(?)', [changesLock]),
    )
  }

  read<T>(calls: () => T): T {
    return this.#within('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', calls)
  }

  changesByOthers(): number {
    if (!this.#serving) {
      return this.use(() => this.pluck<[], number>('SELECT total FROM tally').get()!)
    }
    if (this.#isSilent) {
      this.#doubted = true
      throw unavailable('used', silent)
    }
    if (this.#doubted) this.#openings++
    this.#doubted = false
    return this.#signals.tally
  }

  continueIds(table: string): void {
    this.pluck<[string], number>(
      `SELECT setval(pg_get_serial_sequence(?, 'id'), (SELECT coalesce(max(id), 0) + 1 FROM ${table}), false)`,
    ).get(`${schemaName}.${table}`)
  }

  damages(): readonly string[] {
    return []
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#post('close')
    this.#hear(servingMs, ({ kind }) => kind === 'closed')
    this.#port.close()
    void this.#worker.terminate()
  }

  #within<T>(begin: string, calls: () => T, first: () => unknown = () => {}): T {
    // Within another transaction, it is that one's.
    if (this.#depth > 0) return calls()
    return this.use(() => {
      // Before anything is sent: its thread would try, one second each.
      this.#requireHope()
      this.#transaction = ++this.#transactions
      this.#depth++
      let ended = false
      try {
        this.#quietly(begin)
        first()
        const result = calls()
        // Of a transaction that only reads, nobody needs the outcome.
        if (begin === 'BEGIN') this.#call('COMMIT', [])
        else this.#quietly('COMMIT')
        ended = true
        return result
      } finally {
        if (!ended) this.#quietly('ROLLBACK')
        this.#depth--
        this.#transaction = 0
      }
    })
  }

  /** Rule 2. @throws {@link PostgresError} */
  #requireHope(): void {
    if (this.#closed) throw new PostgresError({ message: 'the accounts are closed', code: '' })
    if (!this.#serving) return
    if (this.#isSilent) throw silent
    if (performance.now() - this.#failedAtMs < pauseMs) throw this.#failure
  }

  #quietly(sql: string): void {
    this.#post({ number: 0, sql, values: [], transaction: this.#transaction, quiet: true })
  }

  /** @throws {@link PostgresError} */
  #call(sql: string, values: readonly unknown[]): readonly object[] {
    this.#requireHope()
    const number = ++this.#calls
    const transaction = this.#transaction
    this.#post({ number, sql: toPostgres(sql), values, transaction, quiet: false })
    // An earlier call's reply may come after its time.
    const reply = this.#hear(
      this.#statementMs + replyMs,
      (reply) => 'number' in reply && reply.number === number,
    )
    if (reply?.kind === 'rows') return reply.rows
    const failure = new PostgresError(reply?.kind === 'failure' ? reply.failure : silent)
    // An error of a statement says nothing of the next one.
    if (!/^(2[1-7]|42|P0)/.test(failure.code)) {
      this.#failedAtMs = performance.now()
      this.#failure = failure
    }
    throw failure
  }

  #post(call: Call): void {
    this.#port.postMessage(call)
  }

  /** Waits for a reply. @returns Undefined if it does not come in time. */
  #hear(limitMs: number, isIt: (reply: CallReply) => boolean): CallReply | undefined {
    let heard: CallReply | undefined
    this.#signals.replies.await<CallReply>(this.#port, limitMs, (reply) => {
      if (isIt(reply)) heard = reply
      return heard !== undefined
    })
    return heard
  }
}
