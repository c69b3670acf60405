/**
 * An engine in a process of its own, which is replaced when it ends.
 *
 * Rules
 *   1. A call that was inside when the process ended is asked again, once, of the next one: a
 *      decision changes nothing, so asking twice does no harm.
 *   2. Which of several calls ended the process, nobody knows. So those are asked again one after
 *      another, each alone: one that ends the process again is known then and given up, and no
 *      other call pays for it twice. Meanwhile new calls wait.
 *   3. While there is no process, new calls wait for one that should be there soon; else they are
 *      refused, with the time until it should be.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type {
  Engine,
  EngineStats,
  ModelInfo,
  PromptPart,
  ScoreInput,
  ScoreOptions,
  ScoreOutput,
} from '../engine/types.js'
import { OiError } from '../errors.js'
import { type Call, newCall, requireWanted } from './call.js'
import { endOf, type RunnerEnd } from './runner-process.js'
import type { OpenRunner, Runner, SupervisorCounts, SupervisorEvents } from './supervision.js'

const firstPauseMs = 100
const mostPauseMs = 30_000
/** Whoever has lived that long ended for a reason of its own: the next one comes at once. */
const settledMs = 60_000
/** New calls that wait: for a process, or for those that are asked alone. */
const mostWaiting = 1024
/** How long one waits for a process. */
const mostWaitMs = 5000

type Ask<T> = (engine: Engine) => Promise<T>

export class SupervisedEngine implements Engine {
  readonly info: ModelInfo
  readonly #open: OpenRunner
  readonly #events: SupervisorEvents
  readonly #inside = new Set<Call>()
  readonly #ends: Record<string, number> = {}
  #askedAgain = 0
  #gaveUp = 0
  /** Undefined while there is none. */
  #runner: Runner | undefined
  /** The last one that there was. */
  #last: Runner
  #loadMs: number
  #openedMs = performance.now()
  #endedMs = 0
  #pauseMs = firstPauseMs
  #replacing: Promise<void> = Promise.resolve()
  /** Calls that are, or will be, asked alone; and the last of them, which never rejects. */
  #suspects = 0
  #alone: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #closed: Promise<void> | undefined

  /** Opens the first one. @throws As the opener. */
  static async open(open: OpenRunner, events: SupervisorEvents = {}): Promise<SupervisedEngine> {
    const startMs = performance.now()
    const opened = await openOne(open)
    const loadMs = performance.now() - startMs
    return new SupervisedEngine(open, events, opened, loadMs)
  }

  private constructor(open: OpenRunner, events: SupervisorEvents, opened: Opened, loadMs: number) {
    this.#open = open
    this.#events = events
    const { runner } = opened
    this.#runner = this.#last = runner
    this.#loadMs = loadMs
    this.info = runner.engine.info
    opened.onEnd((end) => this.#onEnd(runner, end))
  }

  score(input: ScoreInput, options: ScoreOptions = {}): Promise<ScoreOutput> {
    const { workspace = 0, deadlineMs = Infinity, signal } = options
    const parts = [input.prefix, ...input.suffixes.map((suffix) => suffix.parts)].flat()
    const questions = input.suffixes.length
    const dueMs = performance.now() + deadlineMs
    const call = newCall('score', parts, { questions, workspace, dueMs, signal })
    return this.#ask(call, (engine) =>
      // Less than a millisecond could be read as no limit at all.
      engine.score(input, { ...options, deadlineMs: Math.max(1, dueMs - performance.now()) }),
    )
  }

  tokenize(texts: readonly PromptPart[]): Promise<Int32Array[]> {
    return this.#ask(newCall('tokenize', texts), (engine) => engine.tokenize(texts))
  }

  countTokens(text: string): Promise<number> {
    const call = newCall('count', [{ text, trusted: false }])
    return this.#ask(call, (engine) => engine.countTokens(text))
  }

  /** Of the process that there is, or was last: each begins anew. */
  stats(): EngineStats {
    return this.#last.engine.stats()
  }

  areOrdinary(ids: Int32Array): boolean[] {
    return this.#last.engine.areOrdinary(ids)
  }

  /** False while nothing can answer. */
  get ready(): boolean {
    return this.#runner !== undefined
  }

  /** Of the process that there is, or was last. */
  get pid(): number | undefined {
    return this.#last.pid
  }

  counts(): SupervisorCounts {
    return { ends: { ...this.#ends }, askedAgain: this.#askedAgain, gaveUp: this.#gaveUp }
  }

  close(): Promise<void> {
    this.#closed ??= Promise.all([this.#runner?.engine.close(), this.#replacing]).then(() => {})
    return this.#closed
  }

  async #ask<T>(call: Call, ask: Ask<T>): Promise<T> {
    if (this.#closed !== undefined) throw closedError()
    if (this.#runner === undefined || this.#suspects > 0) await this.#wait(call)
    try {
      return await this.#askNow(call, ask)
    } catch (error) {
      if (!isEnd(error)) throw error
      return this.#askAlone(call, ask)
    }
  }

  async #askNow<T>(call: Call, ask: Ask<T>): Promise<T> {
    const runner = this.#runner
    if (runner === undefined) throw this.#closed === undefined ? this.#unavailable() : closedError()
    this.#inside.add(call)
    try {
      return await ask(runner.engine)
    } catch (error) {
      if (isEnd(error)) call.ends++
      throw error
    } finally {
      this.#inside.delete(call)
    }
  }

  /** Rule 2. */
  #askAlone<T>(call: Call, ask: Ask<T>): Promise<T> {
    this.#suspects++
    const asked = this.#alone.then(async () => {
      try {
        await this.#replacing
        requireWanted(call)
        this.#askedAgain++
        return await this.#askNow(call, ask)
      } catch (error) {
        if (!isEnd(error)) throw error
        this.#gaveUp++
        this.#events.gaveUp?.(call)
        throw new OiError(
          'ERR_ENGINE_INTERNAL',
          "The engine's process ended twice with this request in it",
          { cause: error },
        )
      } finally {
        this.#suspects--
      }
    })
    this.#alone = asked.catch(() => {})
    return asked
  }

  async #wait(call: Call): Promise<void> {
    if (this.#waiting >= mostWaiting) throw this.#unavailable()
    this.#waiting++
    try {
      while (this.#suspects > 0) await this.#alone
      if (this.#runner === undefined) await this.#waitForRunner()
    } finally {
      this.#waiting--
    }
    requireWanted(call)
  }

  async #waitForRunner(): Promise<void> {
    if (this.#expectedInMs() > mostWaitMs) throw this.#unavailable()
    const limit = new AbortController()
    try {
      await Promise.race([this.#replacing, sleep(mostWaitMs, undefined, limit)])
    } finally {
      limit.abort()
    }
    if (this.#runner === undefined) throw this.#unavailable()
  }

  #expectedInMs(): number {
    return this.#endedMs + this.#pauseMs + this.#loadMs - performance.now()
  }

  #unavailable(): OiError {
    const retryAfterMs = Math.max(firstPauseMs, this.#expectedInMs())
    return new OiError('ERR_OVERLOADED', 'The model is being loaded again', { retryAfterMs })
  }

  #onEnd(runner: Runner, end: RunnerEnd): void {
    if (runner !== this.#runner) return
    this.#runner = undefined
    this.#endedMs = performance.now()
    if (this.#endedMs - this.#openedMs > settledMs) this.#pauseMs = firstPauseMs
    this.#ends[end.cause] = (this.#ends[end.cause] ?? 0) + 1
    this.#events.ended?.(end, [...this.#inside])
    if (this.#closed === undefined) this.#replacing = this.#replace()
  }

  async #replace(): Promise<void> {
    for (;;) {
      await sleep(this.#pauseMs)
      if (this.#closed !== undefined) return
      this.#pauseMs = Math.min(2 * this.#pauseMs, mostPauseMs)
      const startMs = performance.now()
      try {
        const opened = await openOne(this.#open)
        const { runner } = opened
        if (this.#closed !== undefined) return await runner.engine.close()
        this.#openedMs = performance.now()
        this.#loadMs = this.#openedMs - startMs
        this.#runner = this.#last = runner
        this.#events.replaced?.(this.#loadMs)
        opened.onEnd((end) => this.#onEnd(runner, end))
        return
      } catch (error) {
        this.#events.failed?.(error)
      }
    }
  }
}

interface Opened {
  readonly runner: Runner
  /** @param listener - Told of its end, at once if that has come already. */
  onEnd(listener: (end: RunnerEnd) => void): void
}

async function openOne(open: OpenRunner): Promise<Opened> {
  let known: RunnerEnd | undefined
  let tell = (end: RunnerEnd) => {
    known = end
  }
  const runner = await open((end) => tell(end))
  return {
    runner,
    onEnd: (listener) => {
      if (known === undefined) tell = listener
      else listener(known)
    },
  }
}

/** Whether it failed because the process ended, and not for a reason of its own. */
const isEnd = (error: unknown) => endOf(error) !== undefined

function closedError(): OiError {
  return new OiError('ERR_ENGINE_CLOSED', 'the engine is closed')
}
