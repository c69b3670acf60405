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
import { HashEngine } from './fake-engine.js'

interface Held {
  readonly input: ScoreInput
  readonly options: ScoreOptions
  readonly answer: () => Promise<void>
  readonly fail: (error: Error) => void
}

export class HeldReplica extends HashEngine implements Replica {
  free = true
  retryAfterMs = 0
  closed = false
  /** How many times it has tokenized or counted. */
  tokenized = 0
  counters: Partial<EngineStats> = {}
  /** Requests without an answer yet. */
  readonly held: Held[] = []

  constructor(info: Partial<ModelInfo> = {}) {
    super({ info })
  }

  override score(input: ScoreInput, options: ScoreOptions = {}): Promise<ScoreOutput> {
    return new Promise((resolve, reject) => {
      const leave = () => this.held.splice(this.held.indexOf(held), 1)
      const held: Held = {
        input,
        options,
        answer: async () => {
          leave()
          resolve(await super.score(input))
        },
        fail: (error) => {
          leave()
          reject(error)
        },
      }
      this.held.push(held)
    })
  }

  override tokenize(texts: readonly PromptPart[]): Promise<Int32Array[]> {
    this.tokenized++
    return super.tokenize(texts)
  }

  override countTokens(text: string): Promise<number> {
    this.tokenized++
    return super.countTokens(text)
  }

  override stats(): EngineStats {
    return { ...noStats(), ...this.counters }
  }

  override async close(): Promise<void> {
    this.closed = true
  }
}
