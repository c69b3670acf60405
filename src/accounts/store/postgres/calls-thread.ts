/**
 * The thread behind connection.ts: it makes the calls of the event loop, one after the other, and
 * watches for changes by others.
 *
 * @module
 */

import { type MessagePort, workerData } from 'node:worker_threads'
import { OiError } from '../../../errors.js'
import { PostgresClient, type Rows } from './client.js'
import { type Failure, failureOf, PostgresError } from './failure.js'
import { migrate } from './schema.js'
import { sharedNowMs, Signals } from './signals.js'

export interface CallsThreadData {
  readonly url: string
  readonly buffer: SharedArrayBuffer
  readonly port: MessagePort
  /** How long a statement may take, milliseconds. */
  readonly statementMs: number
  /** How often changes by others are looked for, milliseconds; 0: never. */
  readonly watchMs: number
}

export type Call =
  | 'close'
  | {
      /** Its reply has the same. */
      readonly number: number
      readonly sql: string
      readonly values: readonly unknown[]
      /** Of the transaction that it belongs to; 0: none. */
      readonly transaction: number
      /** Whether nobody waits for its reply. */
      readonly quiet: boolean
    }

export type Outcome =
  | { readonly kind: 'rows'; readonly rows: readonly object[] }
  | { readonly kind: 'failure'; readonly failure: Failure }

export type CallReply =
  | (Outcome & { readonly number: number })
  /** At the start: the accounts' own id, or why they cannot be used at all. */
  | { readonly kind: 'opened'; readonly id: string }
  | { readonly kind: 'unusable'; readonly message: string }
  | { readonly kind: 'closed' }

/** How long the watch waits for its answer, milliseconds. */
const watchAnswerMs = 400
/** A connection that was not used for so long is asked whether it lives, and how soon it replies. */
const idleMs = 200
const aliveMs = 300

const { url, buffer, port, statementMs, watchMs } = workerData as CallsThreadData
const signals = new Signals(buffer)
const calls = new PostgresClient({ url, statementMs })
const watch = new PostgresClient({ url, statementMs: watchAnswerMs })
/** The transaction under way, and its connection's loss. */
let transaction = 0
let lost: Failure | undefined
let watching: NodeJS.Timeout | undefined
/** Whether a call or its transaction is under way. */
let calling = false
/** When a call was last answered. */
let heardMs = 0
let closed = false

function reply(message: CallReply): void {
  signals.replies.post(port, message)
}

async function open(): Promise<void> {
  try {
    await migrate(await calls.session())
    const { rows } = await calls.query('SELECT id, total FROM identity, tally')
    const { id, total } = rows[0] as { id: string; total: number }
    signals.noteTally(total, sharedNowMs())
    reply({ kind: 'opened', id })
    if (watchMs > 0) watching = setTimeout(() => void look(), watchMs)
  } catch (error) {
    if (error instanceof PostgresError) reply({ kind: 'failure', failure: plain(error), number: 0 })
    else if (error instanceof OiError) reply({ kind: 'unusable', message: error.message })
    else reply({ kind: 'failure', failure: failureOf(error), number: 0 })
  }
}

async function look(): Promise<void> {
  const askedMs = sharedNowMs()
  const stood = watch.connected
  try {
    const { rows } = await watch.query('SELECT total FROM tally')
    signals.noteTally((rows[0] as { total: number }).total, askedMs)
  } catch {
    // What it last knew grows old, and connection.ts sees that. The other connection may have died
    // as silently: the next call need not find out by waiting.
    if (!calling) calls.drop()
  }
  // A connection that died is replaced at once; after any other failure PostgreSQL has its time.
  const died = stood && !watch.connected
  if (!closed) watching = setTimeout(() => void look(), died ? 0 : watchMs)
}

/** A connection that died silently is replaced before anything depends on it. */
async function requireAlive(): Promise<void> {
  if (!calls.connected || sharedNowMs() - heardMs < idleMs) return
  await calls.query('SELECT 1', [], aliveMs).catch(() => calls.drop())
}

/** What only reads needs no question before it: without a reply it is asked again on a new connection. */
async function read(sql: string, values: readonly unknown[]): Promise<Rows> {
  if (calls.connected) {
    try {
      return await calls.query(sql, values, aliveMs)
    } catch (error) {
      if (calls.connected) throw error
    }
  }
  return calls.query(sql, values)
}

async function make(call: Exclude<Call, 'close'>): Promise<Outcome> {
  const { sql, values } = call
  try {
    if (call.transaction !== transaction) {
      transaction = call.transaction
      lost = undefined
    } else if (transaction > 0) {
      lost ??= calls.connected ? undefined : { message: 'the connection was lost', code: '' }
      if (lost !== undefined) return { kind: 'failure', failure: lost }
    }
    const alone = transaction === 0 && sql.startsWith('SELECT')
    if (!alone && (transaction === 0 || call.quiet)) await requireAlive()
    const { rows } = await (alone ? read(sql, values) : calls.query(sql, values))
    heardMs = sharedNowMs()
    return { kind: 'rows', rows }
  } catch (error) {
    const failure = error instanceof PostgresError ? plain(error) : failureOf(error)
    if (transaction > 0 && !calls.connected) lost = failure
    return { kind: 'failure', failure }
  }
}

const plain = ({ message, code }: Failure): Failure => ({ message, code })

let queue = open()
port.on('message', (call: Call) => {
  queue = queue.then(async () => {
    if (call !== 'close') {
      calling = true
      const made = await make(call)
      calling = call.transaction > 0 && !/^(COMMIT|ROLLBACK)$/.test(call.sql)
      if (!call.quiet) reply({ ...made, number: call.number })
      return
    }
    closed = true
    clearTimeout(watching)
    calls.drop()
    watch.drop()
    reply({ kind: 'closed' })
    port.close()
  })
})
