/**
 * The thread of the {@link StoreWriter}.
 *
 * @module
 */

import { type MessagePort, workerData } from 'node:worker_threads'
import { Shared } from './shared.js'
import type { Noted } from '../store/store-file.js'
import { StoreWriter } from './store-writer.js'
import type { WriteRequest } from './write-request.js'

/** How often a grown WAL is checked while nothing is written. */
const tendMs = 1000

export interface ThreadData {
  readonly dataDir: string
  readonly buffer: SharedArrayBuffer
  readonly port: MessagePort
  readonly noted: Noted
}

const { dataDir, buffer, port, noted } = workerData as ThreadData
const shared = new Shared(buffer)
const writer = new StoreWriter(dataDir, shared, noted)
const timer = setInterval(() => writer.tend(), tendMs)

port.on('message', (request: WriteRequest | 'close') => {
  if (request === 'close') {
    clearInterval(timer)
    writer.close()
    port.postMessage('closed')
    shared.announceReply()
    port.close()
    return
  }
  port.postMessage(writer.handle(request))
  shared.announceReply()
})
