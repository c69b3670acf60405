/** A replica that answers or refuses its requests when the test says so. */
import { noStats } from '../../src/engine/stats.js'
import type {
  EngineStats,
  ModelInfo,
  PromptPart,
  ScoreInput,
  ScoreOptions,
  ScoreOutput,
} from '../../src/engine/types.js'
import type { Replica } from '../../src/runner/replica-set.js'
import { createFakeEngine, type FakeEngine } from './fake-engine.js'

interface Held {
  readonly input: ScoreInput
  readonly options: ScoreOptions
  readonly answer: () => Promise<void>
  readonly fail: (error: Error) => void
}

export class HeldReplica implements Replica {
  readonly info: ModelInfo
  free = true
  retryAfterMs = 0
  closed = false
  /** How many times it has tokenized or counted. */
  tokenized = 0
  counters: Partial<EngineStats> = {}
  /** Requests without an answer yet. */
  readonly held: Held[] = []
  readonly #engine: FakeEngine

  constructor(info: Partial<ModelInfo> = {}) {
    this.#engine = createFakeEngine({ info })
    this.info = this.#engine.info
  }

  score(input: ScoreInput, options: ScoreOptions = {}): Promise<ScoreOutput> {
    return new Promise((resolve, reject) => {
      const leave = () => this.held.splice(this.held.indexOf(held), 1)
      const held: Held = {
        input,
        options,
        answer: async () => {
          leave()
          resolve(await this.#engine.score(input))
        },
        fail: (error) => {
          leave()
          reject(error)
        },
      }
      this.held.push(held)
    })
  }

  tokenize(texts: readonly PromptPart[]): Promise<Int32Array[]> {
    this.tokenized++
    return this.#engine.tokenize(texts)
  }

  countTokens(text: string): Promise<number> {
    this.tokenized++
    return this.#engine.countTokens(text)
  }

  stats(): EngineStats {
    return { ...noStats(), ...this.counters }
  }

  areOrdinary(ids: Int32Array): boolean[] {
    return this.#engine.areOrdinary(ids)
  }

  async close(): Promise<void> {
    this.closed = true
  }
}
