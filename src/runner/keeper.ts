/**
 * Keeps a process running: opens it, and replaces it when it has ended.
 *
 * Rules
 *   1. The next process starts after a pause. The pause is short as long as processes answer
 *      something before they end; else it doubles each time, so that a model that crashes at once
 *      does not take all cores.
 *   2. The next process has the same model: facts found out about the first one, such as the tokens
 *      of its labels, would be wrong for another. If the file has another model now, it is tried
 *      again later.
 *   3. Closing waits neither for a pause nor for a model that is loading.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Cancellation, Engine } from '../engine/types.js'
import type { RunnerEnd } from './runner-process.js'
import { requireSameModel } from './same-model.js'
import type { InsideCall, OpenRunner, Runner, SupervisorEvents } from './supervision.js'

const firstPauseMs = 100
const mostPauseMs = 30_000

interface KeeperOptions {
  readonly open: OpenRunner
  readonly events: SupervisorEvents
  /** What was asked and not answered. */
  readonly inside: () => readonly InsideCall[]
}

export class RunnerKeeper {
  readonly #options: KeeperOptions
  readonly #stop = new AbortController()
  readonly #ends: Record<string, number> = {}
  readonly #waiters = new Set<() => void>()
  #restarts = 0
  #runner: Runner | undefined
  #last: Runner
  #loadMs: number
  #dueMs = 0
  #pauseMs = firstPauseMs
  #answered = false
  #replacing: Promise<void> | undefined

  /** Opens the first process. @throws As the opener. */
  static async open(options: KeeperOptions): Promise<RunnerKeeper> {
    const startMs = performance.now()
    const opened = await openOne(options.open, new AbortController().signal)
    return new RunnerKeeper(options, opened, performance.now() - startMs)
  }

  private constructor(options: KeeperOptions, opened: Opened, loadMs: number) {
    this.#options = options
    this.#loadMs = loadMs
    this.#last = opened.runner
    this.#take(opened)
  }

  /** Undefined while no process runs. */
  get runner(): Runner | undefined {
    return this.#runner
  }

  /** The present runner, or the last one. */
  get last(): Runner {
    return this.#last
  }

  /**
   * When the next process should be ready, on the clock of `performance.now()`, while none runs.
   */
  get dueMs(): number {
    return this.#dueMs
  }

  get closed(): boolean {
    return this.#stop.signal.aborted
  }

  /** Ends by cause. */
  get ends(): Readonly<Record<string, number>> {
    return this.#ends
  }

  /** How often the process was replaced. */
  get restarts(): number {
    return this.#restarts
  }

  /** Notes that the process has answered (rule 1). */
  noteAnswer(): void {
    this.#answered = true
  }

  /** Resolves when a process has started or ended, at `wake()`, at an abort, or at `untilMs`. */
  async change(untilMs: number, signal?: Cancellation): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', wake)
        this.#waiters.delete(wake)
        resolve()
      }
      // A timer waits 2^31 ms at most; a caller woken too early checks again.
      const timer = setTimeout(wake, Math.min(2 ** 31 - 1, untilMs - performance.now()))
      signal?.addEventListener('abort', wake)
      this.#waiters.add(wake)
    })
  }

  /** Wakes all callers of `change()`, to check again. */
  wake(): void {
    for (const wake of [...this.#waiters]) wake()
  }

  /** Waits for accepted calls. Idempotent. */
  async close(): Promise<void> {
    const engine = this.#runner?.engine
    this.#stop.abort()
    this.wake()
    await Promise.all([engine?.close(), this.#replacing])
  }

  #take({ runner, onEnd }: Opened): void {
    this.#runner = this.#last = runner
    this.#answered = false
    onEnd((end) => this.#onEnd(end))
  }

  #onEnd(end: RunnerEnd): void {
    const { events, inside } = this.#options
    this.#runner = undefined
    this.#ends[end.cause] = (this.#ends[end.cause] ?? 0) + 1
    if (this.#answered) this.#pauseMs = firstPauseMs
    if (!this.closed) this.#replacing = this.#replace()
    events.ended?.(end, inside())
    this.wake()
  }

  /** Rule 2. */
  async #requireSame(engine: Engine): Promise<void> {
    try {
      requireSameModel(this.#last.engine.info, engine.info)
    } catch (error) {
      await engine.close()
      throw error
    }
  }

  async #replace(): Promise<void> {
    const { open, events } = this.#options
    const { signal } = this.#stop
    for (;;) {
      this.#dueMs = performance.now() + this.#pauseMs + this.#loadMs
      await sleep(this.#pauseMs, undefined, { signal }).catch(() => {})
      if (this.closed) return
      this.#pauseMs = Math.min(2 * this.#pauseMs, mostPauseMs)
      const startMs = performance.now()
      try {
        const opened = await openOne(open, signal)
        if (this.closed) return await opened.runner.engine.close()
        await this.#requireSame(opened.runner.engine)
        this.#loadMs = performance.now() - startMs
        this.#restarts++
        this.#take(opened)
        events.replaced?.(this.#loadMs, opened.runner.pid)
        this.wake()
        return
      } catch (error) {
        if (this.closed) return
        events.failed?.(error, this.#pauseMs)
      }
    }
  }
}

interface Opened {
  readonly runner: Runner
  /** @param listener - Called with its end, at once if it has ended already. */
  onEnd(listener: (end: RunnerEnd) => void): void
}

async function openOne(open: OpenRunner, signal: AbortSignal): Promise<Opened> {
  let known: RunnerEnd | undefined
  let tell = (end: RunnerEnd) => {
    known = end
  }
  const runner = await open((end) => tell(end), signal)
  return {
    runner,
    onEnd: (listener) => {
      if (known === undefined) tell = listener
      else listener(known)
    },
  }
}
