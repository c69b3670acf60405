/**
 * The front's side of one runner: its process and its running calls.
 *
 * Rules
 *   1. It has the interface of the addon's engine (`NativeEngine`): the same calls, the same
 *      errors.
 *   2. When the process ends, for whatever reason, every running call rejects with {@link
 *      RunnerEnded}, and so does every later call.
 *   3. A runner that is alive but answers nothing is killed: a stopped process at once, any other
 *      after the time for a ping. Busy engine threads do not matter: another thread answers pings,
 *      until a step takes far longer than similar steps.
 *   4. It keeps this process from ending by itself only while calls run.
 *
 * @module
 */

import type { NativeEngine, NativeFacts, NativeOptions } from '../engine/native.js'
import type { ScoreAsk } from '../engine/pack.js'
import type { EngineStats, ScoreOutput } from '../engine/types.js'
import { OiError } from '../errors.js'
import { RunnerChild } from './child.js'
import type { Frame } from './frames.js'
import {
  asks,
  countFrame,
  openFrame,
  readCounted,
  readFailed,
  readOpened,
  readProgress,
  readResult,
  readStats,
  readTokens,
  replies,
  scoreFrame,
  signal,
  statsBytes,
  tokenizeFrame,
} from './messages.js'
import { Outbox } from './outbox.js'
import { isStopped } from './process-usage.js'

/** How a runner ended. */
export interface RunnerEnd {
  readonly pid: number | undefined
  /** Milliseconds since its start. */
  readonly livedMs: number
  /** A signal's name, `exit 1`, or why it was ended: `stopped`, `hung`, `protocol`. */
  readonly cause: string
  /** Its last lines on stderr. */
  readonly lastWords: string
  /** The last counters that it sent. */
  readonly stats: EngineStats
}

/** The runner has ended, and its calls with it. */
export class RunnerEnded extends Error {
  constructor(readonly end: RunnerEnd) {
    super(`The engine's process ended: ${end.cause}`)
  }
}

/** How the runner ended, if an error is due to that. */
export function endOf(error: unknown): RunnerEnd | undefined {
  if (error instanceof RunnerEnded) return error.end
  return error instanceof Error && error.cause !== undefined ? endOf(error.cause) : undefined
}

interface Call {
  readonly resolve: (payload: Buffer) => void
  readonly reject: (error: Error) => void
}

interface RunnerOptions {
  readonly native: NativeOptions
  readonly onProgress: (fraction: number) => void
  /** Called once. */
  readonly onEnd: (end: RunnerEnd) => void
  /** Called with its output on stderr. */
  readonly onWords: (text: string) => void
  /** Environment variables besides those of this process. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** The program; tests give a broken one. */
  readonly entry?: string
}

const lookMs = 200
const pingLimitMs = 10_000

export class RunnerProcess implements NativeEngine {
  readonly #options: RunnerOptions
  readonly #child: RunnerChild
  readonly #outbox: Outbox
  readonly #calls = new Map<number, Call>()
  readonly #watch: NodeJS.Timeout
  readonly #startMs = performance.now()
  /** The last counters that it sent: all 0 at first. */
  readonly #told = Buffer.alloc(statsBytes)
  #end: RunnerEnd | undefined
  #closing = false
  /** Whether all accepted calls are done, and the process may end. */
  #done = false
  #pingedAtMs: number | undefined

  /** Starts the process. @throws As {@link RunnerChild}. */
  constructor(options: RunnerOptions) {
    this.#options = options
    const { environment, entry, onWords } = options
    this.#child = new RunnerChild({
      environment,
      entry,
      onWords,
      onFrame: (frame) => this.#take(frame),
      onEnd: (cause, lastWords) => this.#finish(cause, lastWords),
    })
    this.#outbox = new Outbox(this.#child.stream)
    this.#watch = setInterval(() => this.#look(), lookMs).unref()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  open(): Promise<NativeFacts> {
    return this.#call(0, () => openFrame(this.#options.native), readOpened)
  }

  score(id: number, ask: ScoreAsk): Promise<ScoreOutput> {
    return this.#call(id, () => scoreFrame(id, ask), readResult)
  }

  tokenize(id: number, texts: string[], kinds: Uint8Array): Promise<Int32Array[]> {
    return this.#call(id, () => tokenizeFrame(id, texts, kinds), readTokens)
  }

  count(id: number, text: string): Promise<number> {
    return this.#call(id, () => countFrame(id, text), readCounted)
  }

  /** The vocabulary is in the runner. */
  countNow(): undefined {
    return undefined
  }

  cancel(id: number): void {
    const call = this.#calls.get(id)
    if (call === undefined || this.#end !== undefined) return
    if (this.#outbox.drop(id)) {
      this.#forget(id)
      call.reject(new OiError('ERR_ABORTED', 'the request was cancelled'))
    } else {
      this.#send(signal(asks.cancel, id))
    }
  }

  stats(): EngineStats {
    return readStats(this.#told)
  }

  /** Waits for accepted calls, then ends the process. Never rejects. */
  async close(): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    // An engine that was never opened has nothing to wait for.
    await this.#call(
      closeId,
      () => signal(asks.close, closeId),
      () => {},
    ).catch(() => {})
    this.#done = true
    this.#child.hold(true)
    this.#child.end()
    await this.#child.ended
  }

  /** Ends the process at once. @param reason - The cause that `onEnd` gets. */
  kill(reason: string): void {
    this.#child.kill(reason)
  }

  /** @param read - Reads the reply's payload. */
  #call<T>(id: number, make: () => Buffer, read: (payload: Buffer) => T): Promise<T> {
    if (this.#end !== undefined) return Promise.reject(new RunnerEnded(this.#end))
    return new Promise((resolve, reject) => {
      if (this.#calls.size === 0) this.#child.hold(true)
      this.#calls.set(id, { resolve: (payload) => resolve(read(payload)), reject })
      this.#outbox.send(id, make, (error) => {
        this.#forget(id)
        reject(error)
      })
    })
  }

  /** Rule 4. */
  #forget(id: number): void {
    this.#calls.delete(id)
    if (this.#calls.size === 0) this.#child.hold(false)
  }

  /** Skips the queue: such frames are small and rare. */
  #send(frame: Buffer): void {
    this.#child.stream.write(frame)
  }

  #take({ kind, id, payload }: Frame): void {
    if (kind === replies.progress) this.#options.onProgress(readProgress(payload))
    else if (kind === replies.stats) payload.copy(this.#told)
    else if (kind === replies.pong) this.#pingedAtMs = undefined
    else this.#settle(id, kind, payload)
  }

  #settle(id: number, kind: number, payload: Buffer): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    if (kind === replies.failed) {
      const { message, ...failure } = readFailed(payload)
      call.reject(Object.assign(new Error(message), failure))
    } else {
      call.resolve(payload)
    }
    this.#forget(id)
  }

  /** Rule 3. */
  #look(): void {
    if (this.#end !== undefined) return
    const { pid } = this.#child
    if (pid !== undefined && isStopped(pid)) {
      this.kill('stopped')
      return
    }
    const now = performance.now()
    if (this.#pingedAtMs === undefined) {
      this.#pingedAtMs = now
      this.#send(signal(asks.ping))
    } else if (now - this.#pingedAtMs > pingLimitMs) {
      this.kill('hung')
    }
  }

  #finish(cause: string, lastWords: string): void {
    clearInterval(this.#watch)
    const { pid } = this.#child
    const livedMs = performance.now() - this.#startMs
    const end = { pid, livedMs, cause, lastWords, stats: this.stats() }
    this.#end = end
    // First: a caller that retries after a rejection must find the runner gone.
    if (!this.#done) this.#options.onEnd(end)
    for (const { reject } of this.#calls.values()) reject(new RunnerEnded(end))
    this.#calls.clear()
  }
}

/** No call has this id: ids of calls begin at 1, and opening has 0. */
const closeId = 2 ** 32 - 1
