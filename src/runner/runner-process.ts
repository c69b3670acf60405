/**
 * The front's side of one runner: its process, and what is under way in it.
 *
 * Rules
 *   1. It is the addon's engine to whoever uses it (`NativeEngine`): the same calls, the same
 *      errors.
 *   2. When the process ends, for whatever reason, every call that is under way rejects with
 *      {@link RunnerEnded}, and so does every later one.
 *   3. A runner that is alive but answers nothing is ended: a stopped process at once, any other
 *      after the time for a ping. Its engine's threads may be busy as long as they like; what
 *      answers pings is another one.
 *
 * @module
 */

import { type ChildProcess, spawn } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { NativeEngine, NativeFacts, NativeOptions } from '../engine/native.js'
import { noStats } from '../engine/no-stats.js'
import type { EngineStats, ScoreOutput } from '../engine/types.js'
import { type Frame, FrameReader } from './frames.js'
import {
  asks,
  countFrame,
  type Failure,
  openFrame,
  readCounted,
  readJson,
  readOpened,
  readProgress,
  readResult,
  readTokens,
  replies,
  scoreFrame,
  signal,
  tokenizeFrame,
} from './messages.js'
import { isStopped } from './process-usage.js'

const entry = fileURLToPath(new URL('main.js', import.meta.url))

/** How a runner ended. */
export interface RunnerEnd {
  readonly pid: number | undefined
  /** From its start on, milliseconds. */
  readonly livedMs: number
  /** A signal's name, `exit 1`, or why it was ended: `stopped`, `hung`, `protocol`. */
  readonly cause: string
  /** The last lines that it wrote on stderr. */
  readonly lastWords: string
  /** The counters that it told last. */
  readonly stats: EngineStats
}

/** The runner has ended, and with it what it was asked. */
export class RunnerEnded extends Error {
  constructor(readonly end: RunnerEnd) {
    super(`The engine's process ended: ${end.cause}`)
  }
}

/** How the runner ended, if it is why something failed. */
export function endOf(error: unknown): RunnerEnd | undefined {
  if (error instanceof RunnerEnded) return error.end
  return error instanceof Error && error.cause !== undefined ? endOf(error.cause) : undefined
}

interface Call {
  readonly resolve: (reply: Frame) => void
  readonly reject: (error: Error) => void
}

export interface RunnerOptions {
  readonly native: NativeOptions
  readonly onProgress: (fraction: number) => void
  /** Told once. */
  readonly onEnd: (end: RunnerEnd) => void
  /** Told what it writes on stderr. */
  readonly onWords: (text: string) => void
  /** Environment variables besides those of this process. */
  readonly environment?: Readonly<Record<string, string>> | undefined
}

const lookMs = 200
const pingLimitMs = 10_000
const lastWordsBytes = 8192

export class RunnerProcess implements NativeEngine {
  readonly #options: RunnerOptions
  readonly #child: ChildProcess
  readonly #stream: Duplex
  readonly #calls = new Map<number, Call>()
  readonly #watch: NodeJS.Timeout
  readonly #startMs = performance.now()
  #lastWords = ''
  #stats: EngineStats = noStats()
  #end: RunnerEnd | undefined
  /** Why it was ended from here. */
  #reason: string | undefined
  #closing = false
  #pingedAtMs: number | undefined

  /** Starts the process. */
  constructor(options: RunnerOptions) {
    this.#options = options
    this.#child = spawn(process.execPath, [entry], {
      // ggml's backtrace starts a debugger.
      env: { ...process.env, GGML_NO_BACKTRACE: '1', ...options.environment },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    })
    this.#stream = this.#child.stdio[3] as unknown as Duplex
    const known = Object.values(replies)
    const frames = new FrameReader(known, (frame) => this.#take(frame))
    this.#stream.on('data', (chunk: Buffer) => {
      try {
        frames.push(chunk)
      } catch {
        this.kill('protocol')
      }
    })
    this.#stream.on('error', () => {}) // the process' end follows, or is brought about
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#lastWords = (this.#lastWords + text).slice(-lastWordsBytes)
      options.onWords(text)
    })
    this.#child.once('error', (error) => this.#finish(error.message))
    // By 'close' everything that it wrote has been read.
    this.#child.once('close', (code, name) => {
      this.#finish(this.#reason ?? name ?? `exit ${code ?? 0}`)
    })
    this.#watch = setInterval(() => this.#look(), lookMs).unref()
    process.once('exit', this.#killNow)
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  async open(): Promise<NativeFacts> {
    const { payload } = await this.#call(0, openFrame(this.#options.native))
    return readOpened(payload)
  }

  async score(
    id: number,
    ...[texts, trusted, shape, candidates, workspace, deadlineMs, images, sizes]: ScoreArguments
  ): Promise<ScoreOutput> {
    const ask = { texts, trusted, shape, candidates, workspace, deadlineMs, images, sizes }
    return readResult((await this.#call(id, scoreFrame(id, ask))).payload)
  }

  async tokenize(id: number, texts: string[], trusted: Uint8Array): Promise<Int32Array[]> {
    return readTokens((await this.#call(id, tokenizeFrame(id, texts, trusted))).payload)
  }

  async count(id: number, text: string): Promise<number> {
    return readCounted((await this.#call(id, countFrame(id, text))).payload)
  }

  /** The vocabulary is in the runner. */
  countNow(): undefined {
    return undefined
  }

  cancel(id: number): void {
    if (this.#calls.has(id) && this.#end === undefined) this.#stream.write(signal(asks.cancel, id))
  }

  stats(): EngineStats {
    return this.#stats
  }

  /** Waits for what was accepted, then ends the process. Never rejects. */
  async close(): Promise<void> {
    if (this.#closing) return
    this.#closing = true
    const ended = new Promise<void>((resolve) => {
      if (this.#end === undefined) this.#child.once('close', () => resolve())
      else resolve()
    })
    // An engine that was never opened has nothing to wait for.
    await this.#call(closeId, signal(asks.close, closeId)).catch(() => {})
    this.#stream.end()
    await ended
  }

  /** Ends the process at once. @param reason - The cause that is told. */
  kill(reason: string): void {
    this.#reason ??= reason
    this.#child.kill('SIGKILL')
  }

  readonly #killNow = () => {
    this.#child.kill('SIGKILL')
  }

  #call(id: number, frame: Buffer): Promise<Frame> {
    if (this.#end !== undefined) return Promise.reject(new RunnerEnded(this.#end))
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject })
      this.#stream.write(frame)
    })
  }

  #take(frame: Frame): void {
    const { kind, id, payload } = frame
    if (kind === replies.progress) this.#options.onProgress(readProgress(payload))
    else if (kind === replies.stats) this.#stats = readJson(payload) as EngineStats
    else if (kind === replies.pong) this.#pingedAtMs = undefined
    else this.#settle(frame, id, kind, payload)
  }

  #settle(frame: Frame, id: number, kind: number, payload: Buffer): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    this.#calls.delete(id)
    if (kind !== replies.failed) {
      call.resolve(frame)
      return
    }
    const { code, message, retryAfterMs } = readJson(payload) as Failure
    call.reject(Object.assign(new Error(message), { code, retryAfterMs }))
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
      this.#stream.write(signal(asks.ping))
    } else if (now - this.#pingedAtMs > pingLimitMs) {
      this.kill('hung')
    }
  }

  #finish(cause: string): void {
    if (this.#end !== undefined) return
    clearInterval(this.#watch)
    process.off('exit', this.#killNow)
    const { pid } = this.#child
    const livedMs = performance.now() - this.#startMs
    const end = { pid, livedMs, cause, lastWords: this.#lastWords, stats: this.#stats }
    this.#end = end
    // First: whoever asks again because of a rejection must find that there is none.
    if (!this.#closing) this.#options.onEnd(end)
    for (const { reject } of this.#calls.values()) reject(new RunnerEnded(end))
    this.#calls.clear()
  }
}

type ScoreArguments =
  Parameters<NativeEngine['score']> extends [number, ...infer Rest] ? Rest : never

/** Of no request: theirs begin at 1, and opening has 0. */
const closeId = 2 ** 32 - 1
