/**
 * An engine in a process of its own, which is replaced when it ends.
 *
 * Rules
 *   1. A call that was running when the process ended is retried once in the next process: a
 *      decision changes nothing, so asking twice does no harm.
 *   2. Nobody knows which of several calls ended the process. So they are retried one after
 *      another, each alone: a call that ends the process again is known then and fails, and no
 *      other call pays for it twice. Meanwhile new calls wait.
 *   3. While no process runs, new calls wait if the next one should be ready soon; else they are
 *      refused, with the time until then. Retried calls (rule 1) wait until their deadlines.
 *
 * @module
 */

import { setImmediate } from 'node:timers/promises'
import { Chain } from '../chain.js'
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
import { Call } from './call.js'
import { RunnerKeeper } from './keeper.js'
import { processUsage } from './process-usage.js'
import { endOf } from './runner-process.js'
import type { OpenRunner, RunnerReport, SupervisorCounts, SupervisorEvents } from './supervision.js'

/** Most new calls that wait for a process, or for calls that run alone. */
const mostWaiting = 1024
/** How long a new call waits for a process. */
const mostWaitMs = 5000
/** How late a process may be before retried calls (rule 1) fail. */
const mostLateMs = 60_000
/** The shortest wait that a refused caller is told. */
const leastRetryMs = 100

type Ask<T> = (engine: Engine) => Promise<T>

export class SupervisedEngine implements Engine {
  readonly info: ModelInfo
  readonly #events: SupervisorEvents
  readonly #inside: Chain<Call>
  readonly #keeper: RunnerKeeper
  #askedAgain = 0
  #gaveUp = 0
  /** Calls that run alone, or will; and the last of them, which never rejects. */
  #suspects = 0
  #alone: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #closing: Promise<void> | undefined

  /** Opens the first process. @throws As the opener. */
  static async open(open: OpenRunner, events: SupervisorEvents = {}): Promise<SupervisedEngine> {
    const inside = new Chain<Call>()
    const keeper = await RunnerKeeper.open({ open, events, inside: () => inside.values() })
    return new SupervisedEngine(keeper, inside, events)
  }

  private constructor(keeper: RunnerKeeper, inside: Chain<Call>, events: SupervisorEvents) {
    this.#keeper = keeper
    this.#inside = inside
    this.#events = events
    this.info = keeper.last.engine.info
  }

  score(input: ScoreInput, options: ScoreOptions = {}): Promise<ScoreOutput> {
    const call = new Call('score', input, options)
    const ask = (engine: Engine) => engine.score(input, { ...options, deadlineMs: call.leftMs })
    return this.#ask(call, ask)
  }

  tokenize(texts: readonly PromptPart[]): Promise<Int32Array[]> {
    return this.#ask(new Call('tokenize', texts), (engine) => engine.tokenize(texts))
  }

  countTokens(text: string): Promise<number> {
    return this.#ask(new Call('count', text), (engine) => engine.countTokens(text))
  }

  /** Counters of the present process, or of the last one: each starts from 0. */
  stats(): EngineStats {
    return this.#keeper.last.engine.stats()
  }

  areOrdinary(ids: Int32Array): boolean[] {
    return this.#keeper.last.engine.areOrdinary(ids)
  }

  /** False while nothing can answer. */
  get ready(): boolean {
    return this.#keeper.runner !== undefined
  }

  /** Whether a new call would start at once: a process runs, and no call runs alone (rule 2). */
  get free(): boolean {
    return this.ready && this.#suspects === 0
  }

  /** Milliseconds until a process should be able to answer; 0 if one is. */
  get retryAfterMs(): number {
    return this.ready ? 0 : Math.max(leastRetryMs, this.#keeper.dueMs - performance.now())
  }

  /** Pid of the present process, or of the last one. */
  get pid(): number | undefined {
    return this.#keeper.last.pid
  }

  counts(): SupervisorCounts {
    const { ends, restarts } = this.#keeper
    return { ends: { ...ends }, restarts, askedAgain: this.#askedAgain, gaveUp: this.#gaveUp }
  }

  /** @param model - Its name. */
  report(model: string): RunnerReport {
    const { ready, retryAfterMs, pid } = this
    const usage = () => (ready && pid !== undefined ? processUsage(pid) : undefined)
    return { model, ready, retryAfterMs, pid, usage, ...this.counts() }
  }

  /** Waits for accepted calls, but not for a process to start. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    const keeper = this.#keeper
    while (this.ready && this.#suspects + this.#waiting > 0) {
      await keeper.change(Infinity)
      // Woken callers ask now.
      await setImmediate()
    }
    await keeper.close()
  }

  async #ask<T>(call: Call, ask: Ask<T>): Promise<T> {
    if (this.#closing !== undefined) throw closedError()
    if (!this.ready || this.#suspects > 0) await this.#waitInLine(call)
    try {
      return await this.#askNow(call, ask)
    } catch (error) {
      if (!isEnd(error)) throw error
      return this.#askAlone(call, ask)
    }
  }

  async #askNow<T>(call: Call, ask: Ask<T>): Promise<T> {
    const { runner } = this.#keeper
    if (runner === undefined) throw this.#unavailable()
    const inside = this.#inside.add(call)
    try {
      const answer = await ask(runner.engine)
      this.#keeper.noteAnswer()
      return answer
    } catch (error) {
      if (isEnd(error)) call.ends++
      throw error
    } finally {
      inside.leave()
    }
  }

  /** Rule 2. */
  #askAlone<T>(call: Call, ask: Ask<T>): Promise<T> {
    this.#suspects++
    const untilMs = this.#keeper.dueMs + mostLateMs
    const asked = this.#alone.then(async () => {
      try {
        await this.#waitForProcess(call, untilMs, () => true)
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
        this.#keeper.wake()
      }
    })
    this.#alone = asked.catch(() => {})
    return asked
  }

  async #waitInLine(call: Call): Promise<void> {
    if (this.#waiting >= mostWaiting) throw this.#unavailable()
    this.#waiting++
    try {
      const untilMs = performance.now() + mostWaitMs
      await this.#waitForProcess(call, untilMs, () => this.#suspects === 0)
    } finally {
      this.#waiting--
      this.#keeper.wake()
    }
  }

  /** @param untilMs - How long to wait. @param isFree - Whether the process may be asked. */
  async #waitForProcess(call: Call, untilMs: number, isFree: () => boolean): Promise<void> {
    const keeper = this.#keeper
    for (;;) {
      call.requireWanted()
      if (keeper.closed) throw closedError()
      if (this.ready && isFree()) return
      const dueMs = Math.max(keeper.dueMs, performance.now())
      if (!this.ready && dueMs > Math.min(untilMs, call.dueMs)) throw this.#unavailable()
      await keeper.change(this.ready ? call.dueMs : Math.min(untilMs, call.dueMs), call.signal)
    }
  }

  #unavailable(): OiError {
    const { retryAfterMs } = this
    return new OiError('ERR_OVERLOADED', 'The model is being loaded again', { retryAfterMs })
  }
}

/** Whether a call failed because the process ended. */
const isEnd = (error: unknown) => endOf(error) !== undefined

function closedError(): OiError {
  return new OiError('ERR_ENGINE_CLOSED', 'the engine is closed')
}
