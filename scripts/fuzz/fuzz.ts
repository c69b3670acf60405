/**
 * Plays cases over many connections, with a right request among them every now and then, and
 * collects what went wrong.
 *
 * @module
 */

import { type Case, Cases } from './cases.js'
import { Gone, Player } from './player.js'
import { Probe } from './probe.js'
import type { Held, Target } from './target.js'

export interface FuzzOptions {
  readonly seed: number
  /** Number of the first case. */
  readonly from: number
  readonly requests: number
  readonly connections: number
  /** Only bodies that are compressed, in parts, or have pictures. */
  readonly forms?: boolean
  /** Told how many are done, now and then. */
  readonly onProgress?: (report: FuzzReport) => void
}

interface FuzzFailure {
  /** Number of the case. */
  readonly index: number
  readonly wrong: string
  readonly bytes: Buffer
}

export interface FuzzReport {
  readonly requests: number
  /** Replies by status. */
  readonly statuses: ReadonlyMap<number, number>
  readonly failures: readonly FuzzFailure[]
  readonly seconds: number
  /** What the server holds in the middle of the run and at its end, if that can be asked. */
  readonly held: readonly [early: Held, late: Held] | undefined
}

const probeEvery = 100
const mostFailures = 20
const progressReports = 50

export async function fuzz(target: Target, options: FuzzOptions): Promise<FuzzReport> {
  const run = new Run(target, options)
  const { requests, connections } = options
  for (const end of [Math.ceil(requests / 2), requests]) {
    await Promise.all(Array.from({ length: connections }, () => run.connection(end)))
    await run.measure()
  }
  return run.report()
}

class Run {
  readonly #target: Target
  readonly #options: FuzzOptions
  readonly #cases: Cases
  readonly #probe: Probe
  readonly #startMs = performance.now()
  readonly #failures: FuzzFailure[] = []
  readonly #statuses = new Map<number, number>()
  readonly #held: Held[] = []
  #begun = 0
  #done = 0
  #gone = false

  constructor(target: Target, options: FuzzOptions) {
    this.#target = target
    this.#options = options
    this.#cases = new Cases(options.seed, target.key, options.forms)
    this.#probe = new Probe(target.key)
  }

  report(): FuzzReport {
    const [early, late] = this.#held
    return {
      requests: this.#done,
      statuses: this.#statuses,
      failures: this.#failures,
      seconds: (performance.now() - this.#startMs) / 1000,
      held: early === undefined || late === undefined ? undefined : [early, late],
    }
  }

  async measure(): Promise<void> {
    const held = await this.#target.held()
    if (held !== undefined) this.#held.push(held)
  }

  /** Plays cases until so many have begun. */
  async connection(end: number): Promise<void> {
    const player = new Player(this.#target.host, this.#target.port)
    try {
      while (this.#begun < end && !this.#hasEnded()) {
        const index = this.#options.from + this.#begun++
        await this.#play(player, index)
        this.#count()
      }
    } finally {
      player.close()
    }
  }

  #hasEnded(): boolean {
    return this.#gone || this.#failures.length >= mostFailures
  }

  async #play(player: Player, index: number): Promise<void> {
    const sent = this.#cases.at(index)
    try {
      const { wrong, replies } = await player.play(sent)
      for (const { status } of replies) {
        this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
      }
      if (wrong !== undefined) this.#fail(index, sent, wrong)
      if (index % probeEvery === 0) await this.#ask(player, index, sent)
    } catch (error) {
      if (!(error instanceof Gone)) throw error
      // Every connection says so with the case that it had sent last: one of them did it.
      this.#fail(index, sent, `the server is gone: ${error.message}`)
      this.#gone = true
    }
  }

  async #ask(player: Player, index: number, before: Case): Promise<void> {
    const { wrong, replies } = await player.play(this.#probe.sent)
    const [reply] = replies
    const changed = reply === undefined ? undefined : this.#probe.wrongIn(reply)
    const found = wrong ?? changed
    if (found !== undefined) this.#fail(index, before, `behind this case: ${found}`)
  }

  #fail(index: number, { parts }: Case, wrong: string): void {
    this.#failures.push({ index, wrong, bytes: Buffer.concat(parts) })
  }

  #count(): void {
    this.#done++
    const { requests, onProgress } = this.#options
    if (this.#done % Math.max(1, Math.floor(requests / progressReports)) === 0) {
      onProgress?.(this.report())
    }
  }
}
