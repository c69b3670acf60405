/**
 * Random operations on an engine in another process, each answer compared, bit by bit, with that of
 * a deterministic engine in this process.
 *
 * Scores, tokenizes, counts, cancels, sets deadlines, closes and opens again; ends the process in
 * every way, also by invalid frames; up to 32 calls are under way.
 *
 * @module
 */

import { openEngine, type EngineOptions } from '../../src/engine/engine.js'
import { openIsolated } from '../../src/runner/isolate.js'
import type { SupervisedEngine } from '../../src/runner/supervised-engine.js'
import { createRandom, type Random } from '../../test/helpers/random.js'
import { until } from '../../test/helpers/until.js'
import { garbage } from './garbage.js'
import { user, World } from './world.js'

const mostUnderWay = 32
/** A call that waits for longer is lost: a new process is ready within a second or two. */
const patienceMs = 120_000
/** Ends of one engine: each replacement comes later than the one before. */
const endsOfOne = 2
const signals = ['SIGKILL', 'SIGABRT', 'SIGSEGV', 'SIGSTOP'] as const

export interface StressOptions {
  readonly model: string
  readonly operations: number
  readonly seed: number
  /** Operations between two ends of the process, on average. */
  readonly between: number
  readonly onProgress?: (operations: number) => void
}

export interface StressResult {
  readonly answered: number
  readonly aborted: number
  readonly expired: number
  /** Refused while there was no process, or because it ended during close(). */
  readonly refused: number
  /** Inside at two ends. */
  readonly gaveUp: number
  readonly askedAgain: number
  readonly opened: number
  /** Ends of the process, by cause. */
  readonly ends: Readonly<Record<string, number>>
  /** Processes that got nonsense, and ended by it. */
  readonly garbage: number
  /** Violations; none are expected. */
  readonly wrong: readonly string[]
}

export async function stressRunner(options: StressOptions): Promise<StressResult> {
  const engineOptions: EngineOptions = {
    ...{ modelPath: options.model, contextTokens: 4096, threads: 1, deterministic: true },
    maxBacklogMs: 2 ** 31,
  }
  const here = await openEngine(engineOptions)
  try {
    const random = createRandom(options.seed)
    const stress = new Stress(engineOptions, new World(here, random), random, options)
    return await stress.run()
  } finally {
    await here.close()
  }
}

/** The outcomes of a call besides its answer. */
interface Fate {
  cancelled: boolean
  readonly hurried: boolean
}

class Stress {
  readonly #underWay = new Set<Promise<void>>()
  readonly #cancels: (() => void)[] = []
  readonly #counts = { answered: 0, aborted: 0, expired: 0, refused: 0, gaveUp: 0 }
  readonly #ends: Record<string, number> = {}
  readonly #wrong: string[] = []
  #engine!: SupervisedEngine
  #closing = false
  /** Whether the process has ended during close(). */
  #endedAtClose = false
  #endsOfThis = 0
  #askedAgain = 0
  #opened = 0
  #garbage = 0

  constructor(
    readonly engineOptions: EngineOptions,
    readonly world: World,
    readonly random: Random,
    readonly options: StressOptions,
  ) {}

  async run(): Promise<StressResult> {
    const { operations, onProgress } = this.options
    await this.#open()
    for (let i = 1; i <= operations; i++) {
      await this.#one()
      while (this.#underWay.size >= mostUnderWay) await Promise.race(this.#underWay)
      if (i % 1000 === 0) onProgress?.(i)
    }
    await this.#close()
    return {
      ...this.#counts,
      ...{ askedAgain: this.#askedAgain, opened: this.#opened, ends: this.#ends },
      ...{ garbage: this.#garbage, wrong: this.#wrong },
    }
  }

  async #one(): Promise<void> {
    const { random } = this
    const { between } = this.options
    if (random.next() < 1 / between) return this.#end()
    if (random.next() < 1 / between) return this.#sendGarbage()
    if (random.next() < 0.5 / between) {
      await this.#close()
      return this.#open()
    }
    const kind = random.next()
    if (kind < 0.65) this.#score()
    else if (kind < 0.75) this.#tokenize()
    else if (kind < 0.9) this.#count()
    else this.#cancels[random.integer(this.#cancels.length)]?.()
  }

  async #open(): Promise<void> {
    this.#engine = await openIsolated(this.engineOptions, {
      events: {
        ended: ({ cause }) => {
          this.#ends[cause] = (this.#ends[cause] ?? 0) + 1
          this.#endedAtClose ||= this.#closing
        },
      },
    })
    this.#endsOfThis = 0
    this.#opened++
  }

  /**
   * Waits for accepted calls, as close() promises: close() is called first. It does not wait for a
   * process that ends meanwhile.
   */
  async #close(): Promise<void> {
    const engine = this.#engine
    await until(() => engine.ready)
    this.#closing = true
    this.#endedAtClose = false
    const closed = engine.close()
    await Promise.all(this.#underWay)
    await closed
    this.#closing = false
    this.#askedAgain += engine.counts().askedAgain
    if (engine.pid !== undefined && isThere(engine.pid)) this.#wrong.push('a process was left')
    if (engine.stats().queuedRequests > 0 && !this.#endedAtClose)
      this.#wrong.push('requests were left')
  }

  async #end(): Promise<void> {
    if (this.#endsOfThis++ >= endsOfOne) {
      await this.#close()
      await this.#open()
    }
    const { pid, ready } = this.#engine
    if (ready) process.kill(pid!, this.random.pick(signals))
  }

  async #sendGarbage(): Promise<void> {
    const why = await garbage(this.engineOptions, this.random)
    if (why !== undefined) this.#wrong.push(why)
    this.#garbage++
  }

  #score(): void {
    const { random, world } = this
    const wanted = world.pick(random)
    const controller = new AbortController()
    const hurried = random.next() < 0.05
    const fate = { cancelled: false, hurried }
    this.#cancels[random.integer(mostUnderWay)] = () => {
      fate.cancelled = true
      controller.abort()
    }
    const asked = this.#engine.score(world.input(wanted), {
      ...{ signal: controller.signal, workspace: random.integer(3) },
      ...(hurried && { deadlineMs: random.integer(20) }),
    })
    this.#watch(fate, asked, async ({ logits }) => {
      const right = await world.logits(wanted)
      return logits.length === right.length && logits.every((logit, i) => logit === right[i])
    })
  }

  #tokenize(): void {
    const texts = [this.world.text(this.random), this.world.text(this.random)]
    this.#watch(plain, this.#engine.tokenize(texts.map(user)), async (tokens) => {
      const right = await Promise.all(texts.map((text) => this.world.tokens(text)))
      return right.every((ids, i) => ids.join() === tokens[i]?.join())
    })
  }

  #count(): void {
    const text = this.world.text(this.random)
    this.#watch(plain, this.#engine.countTokens(text), async (count) => {
      return count === (await this.world.tokens(text)).length
    })
  }

  #watch<T>(fate: Fate, asked: Promise<T>, isRight: (answer: T) => Promise<boolean>): void {
    const late = setTimeout(() => {
      this.#wrong.push('a call has waited for two minutes')
      throw new Error('A call was lost')
    }, patienceMs)
    const watched = asked
      .then(
        async (answer) => {
          this.#counts.answered++
          if (!(await isRight(answer))) this.#wrong.push('another answer than in this process')
        },
        (error: Error & { code?: string }) => this.#onError(fate, error),
      )
      .finally(() => {
        clearTimeout(late)
        this.#underWay.delete(watched)
      })
    this.#underWay.add(watched)
  }

  #onError({ cancelled, hurried }: Fate, error: Error & { code?: string }): void {
    const counts = this.#counts
    if (error.code === 'ERR_ABORTED' && cancelled) counts.aborted++
    else if (error.code === 'ERR_TIMEOUT' && hurried) counts.expired++
    else if (error.code === 'ERR_OVERLOADED' && !this.#engine.ready) counts.refused++
    else if (error.code === 'ERR_ENGINE_CLOSED' && this.#endedAtClose) counts.refused++
    else if (/ended twice/.test(error.message)) counts.gaveUp++
    else this.#wrong.push(`${error.code}: ${error.message}`)
  }
}

const plain: Fate = { cancelled: false, hurried: false }

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
