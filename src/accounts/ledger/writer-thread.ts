/**
 * The thread of the {@link StoreWriter}, or of the {@link PostgresWriter}.
 *
 * @module
 */

import { type MessagePort, workerData } from 'node:worker_threads'
import { PostgresWriter } from '../store/postgres/writer.js'
import type { ThreadStore } from './ledger-store.js'
import { Shared } from './shared.js'
import { StoreWriter } from './store-writer.js'
import type { WriteRequest } from './write-request.js'

/** How often a grown WAL is checked, and what counts no longer, while nothing is written. */
const tendMs = 1000

export interface ThreadData {
  readonly store: ThreadStore
  readonly buffer: SharedArrayBuffer
  readonly port: MessagePort
}

const { store, buffer, port } = workerData as ThreadData
const shared = new Shared(buffer)
const writer =
  store.url === undefined
    ? new StoreWriter(store.dataDir!, shared, store.noted)
    : new PostgresWriter(store.url, shared, store.place)
const timer = setInterval(() => void writer.tend(), tendMs)

port.on('message', (request: WriteRequest | 'close') => {
  if (request === 'close') {
    clearInterval(timer)
    writer.close()
    shared.replies.post(port, 'closed')
    port.close()
    return
  }
  const reply = writer.handle(request)
  const send = (written: Awaited<typeof reply>) => shared.replies.post(port, written)
  if (reply instanceof Promise) void reply.then(send)
  else send(reply)
})
