/**
 * Keeps a process running: opens one, and another when it has ended.
 *
 * Rules
 *   1. The next one comes after a pause. It is short as long as processes answer something before
 *      they end; else it doubles each time, so that what ends at once does not take all cores.
 *   2. The next one has the same model: what was found out about the first one, as the tokens of its
 *      labels, would be wrong for another. A file that is another one now is tried again later.
 *   3. Closing waits for no pause and no model that is being loaded.
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

export interface KeeperOptions {
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

  /** Opens the first one. @throws As the opener. */
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

  /** Undefined while there is none. */
  get runner(): Runner | undefined {
    return this.#runner
  }

  /** The one that there is, or was last. */
  get last(): Runner {
    return this.#last
  }

  /** When the next one should be there, on the clock of `performance.now()`, if there is none. */
  get dueMs(): number {
    return this.#dueMs
  }

  get closed(): boolean {
    return this.#stop.signal.aborted
  }

  /** By their cause. */
  get ends(): Readonly<Record<string, number>> {
    return this.#ends
  }

  /** How often there was a next one. */
  get restarts(): number {
    return this.#restarts
  }

  /** Takes note that the process has answered (rule 1). */
  noteAnswer(): void {
    this.#answered = true
  }

  /** Resolves when a process has come or gone, at `wake()`, at an abort, or when the time has come. */
  async change(untilMs: number, signal?: Cancellation): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', wake)
        this.#waiters.delete(wake)
        resolve()
      }
      // A timer can wait for 2^31 ms at most; whoever is woken too early looks again.
      const timer = setTimeout(wake, Math.min(2 ** 31 - 1, untilMs - performance.now()))
      signal?.addEventListener('abort', wake)
      this.#waiters.add(wake)
    })
  }

  /** Has everybody look again who waits for a change. */
  wake(): void {
    for (const wake of [...this.#waiters]) wake()
  }

  /** Waits for what was accepted. Idempotent. */
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
  /** @param listener - Told of its end, at once if that has come already. */
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
