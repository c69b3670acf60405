/**
 * The event loop's end of the writer's thread: one request at a time, and its reply.
 *
 * The thread is started with the first request, and again after it has ended unexpectedly.
 *
 * @module
 */

import { MessageChannel, type MessagePort, type Transferable, Worker } from 'node:worker_threads'
import { Shared } from './shared.js'
import { patienceMs } from './store-health.js'
import type { LedgerStore } from './ledger-store.js'
import type { WriteReply, WriteRequest } from './write-request.js'
import { noneAside } from './write-bookings.js'
import type { ThreadData } from './writer-thread.js'

/**
 * The maximum of 50,000 bookings at once takes some 20 MB; a larger young heap would gain nothing.
 */
const heapLimits = { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 256 }

/** Until the thread has ever replied it may still be starting: a busy machine is no failing store. */
const startingMs = 5000

interface Thread {
  readonly worker: Worker
  readonly port: MessagePort
}

type Message = WriteReply | 'closed'

export class WriterLink {
  readonly shared = new Shared()
  readonly #store: LedgerStore
  readonly #onReply: (reply: WriteReply) => void
  #thread: Thread | undefined
  #underWay = false
  #heard = false

  /**
   * @param onReply - Called once per request; by the event loop, or within {@link await}.
   */
  constructor(store: LedgerStore, onReply: (reply: WriteReply) => void) {
    this.#store = store
    this.#onReply = onReply
  }

  get underWay(): boolean {
    return this.#underWay
  }

  /** How long a booking may wait for the thread, milliseconds. */
  get patienceMs(): number {
    return this.#heard ? patienceMs : startingMs
  }

  /** Only while no request is under way. */
  send(request: WriteRequest): void {
    const thread = (this.#thread ??= this.#start())
    this.#underWay = true
    this.shared.beginGroup()
    // The process stays alive until the reply.
    thread.port.ref()
    const transfer: Transferable[] = [request.bookings.numbers.buffer as ArrayBuffer]
    thread.port.postMessage(request, transfer)
  }

  /** Blocks the event loop until the reply, at most `limitMs`. @returns False without a reply. */
  await(limitMs: number): boolean {
    if (this.#underWay && this.#thread !== undefined) {
      this.shared.replies.await<Message>(this.#thread.port, limitMs, (message) => {
        this.#receive(message)
        return !this.#underWay
      })
    }
    return !this.#underWay
  }

  /** Ends the thread. A request under way then gets no reply. */
  close(limitMs: number): void {
    const thread = this.#thread
    if (thread === undefined) return
    this.#underWay = false
    thread.port.postMessage('close')
    this.shared.replies.await<Message>(thread.port, limitMs, (message) => message === 'closed')
    this.#thread = undefined
    thread.port.close()
    void thread.worker.terminate()
  }

  #start(): Thread {
    const { port1: port, port2 } = new MessageChannel()
    const { file, ...store } = this.#store
    const data: ThreadData = {
      ...{ buffer: this.shared.buffer, port: port2 },
      store: { ...store, noted: file?.noted },
    }
    const worker = new Worker(new URL('writer-thread.js', import.meta.url), {
      // The program's own options, such as module hooks, are not for this thread.
      execArgv: [],
      workerData: data,
      transferList: [port2],
      resourceLimits: heapLimits,
    })
    worker.unref()
    const thread = { worker, port }
    let reason = 'its thread ended'
    worker.on('error', (error) => (reason = error.message))
    worker.on('exit', () => this.#lose(thread, reason))
    port.on('message', this.#receive)
    port.unref()
    return thread
  }

  readonly #receive = (message: Message): void => {
    if (message === 'closed' || !this.#underWay) return
    this.#underWay = false
    this.#heard = true
    this.#thread?.port.unref()
    this.#onReply(message)
  }

  /** The thread has ended unexpectedly: the outcome of its request is unknown. */
  #lose(thread: Thread, reason: string): void {
    if (this.#thread !== thread) return
    this.#thread = undefined
    if (!this.#underWay) return
    this.#underWay = false
    const failure = { reason, busy: false }
    const nothing = {
      moved: false,
      fileBytes: 0,
      walBytes: 0,
      notes: [],
      setAside: noneAside,
      kept: [],
      takenIn: [],
      spoolsLeft: 0,
    }
    this.#onReply({ outcome: 'unknown', failure, ...nothing })
  }
}
