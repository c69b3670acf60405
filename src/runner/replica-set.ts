/**
 * Several engines with the same model as one.
 *
 * Rules
 *   1. A request goes where its state is likely to be cached: each state has an order of the
 *      replicas that follows from its key alone (rendezvous hashing, Thaler and Ravishankar 1998),
 *      so that states are spread evenly, and when a replica fails only its states move, until it is
 *      back.
 *   2. It goes to the first of these whose running work, with the request, is less than 1.25 times
 *      the mean. For requests of one size that is the rule of Mirrokni, Thorup and Zadimoghaddam
 *      ("Consistent Hashing with Bounded Loads", arXiv:1608.01350, SODA 2018): at most ⌈1.25 · m /
 *      n⌉ of m requests on one of n replicas.
 *   3. Work is the length of the questions, which no cache saves. The state's length does not
 *      count: whether it must be evaluated depends on the cache.
 *   4. Replicas without a running process are left out, unless none has one.
 *   5. If a replica refuses because too many requests wait there, the others are asked, the least
 *      busy first.
 *
 * @module
 */

import { scopeOf } from '../engine/scope.js'
import { noStats } from '../engine/stats.js'
import type {
  Engine,
  EngineStats,
  ModelInfo,
  PromptPart,
  ScoreInput,
  ScoreOptions,
  ScoreOutput,
} from '../engine/types.js'
import { isOverload, type OiError } from '../errors.js'
import { stateKey } from './state-key.js'

/**
 * The usual value: a smaller one spreads the load better, a larger one keeps more requests where
 * their state is cached.
 */
const bound = 1.25

/** An engine whose process may be missing. */
export interface Replica extends Engine {
  /** Whether a new call would start at once. Default: always. */
  readonly free?: boolean
  /** When it will have a process, milliseconds from now; 0 if it has. */
  readonly retryAfterMs?: number
}

interface Place {
  readonly engine: Replica
  readonly index: number
  /** Work of the running requests. */
  work: number
}

export class ReplicaSet implements Engine {
  readonly info: ModelInfo
  readonly #places: readonly Place[]

  /** @param engines - At least one, of the same model and with contexts of the same size. */
  constructor(engines: readonly Replica[]) {
    this.#places = engines.map((engine, index) => ({ engine, index, work: 0 }))
    const devices = [...new Set(engines.map(({ info }) => info.device))].join(', ')
    this.info = { ...engines[0]!.info, device: devices }
  }

  async score(input: ScoreInput, options: ScoreOptions = {}): Promise<ScoreOutput> {
    const work = workOf(input)
    const { deadlineMs = Infinity } = options
    const dueMs = performance.now() + deadlineMs
    let refusal: OiError | undefined
    for (const place of this.#choose(stateKey(input.prefix, scopeOf(options)), work)) {
      place.work += work
      try {
        // Less than a millisecond could be taken for no limit.
        const leftMs = Math.max(1, dueMs - performance.now())
        return await place.engine.score(input, { ...options, deadlineMs: leftMs })
      } catch (error) {
        if (!isOverload(error)) throw error
        const sooner = (error.retryAfterMs ?? Infinity) < (refusal?.retryAfterMs ?? Infinity)
        if (refusal === undefined || sooner) refusal = error
      } finally {
        place.work -= work
      }
    }
    throw refusal!
  }

  tokenize(texts: readonly PromptPart[]): Promise<Int32Array[]> {
    return this.#leastBusy().tokenize(texts)
  }

  countTokens(text: string): Promise<number> {
    return this.#leastBusy().countTokens(text)
  }

  stats(): EngineStats {
    return sumStats(this.replicas())
  }

  replicas(): readonly EngineStats[] {
    return this.#places.map(({ engine }) => engine.stats())
  }

  areOrdinary(ids: Int32Array): boolean[] {
    return this.#places[0]!.engine.areOrdinary(ids)
  }

  async close(): Promise<void> {
    await Promise.all(this.#places.map(({ engine }) => engine.close()))
  }

  /** The replicas to ask, in order. */
  #choose(key: number, work: number): readonly Place[] {
    const free = this.#places.filter(isFree)
    if (free.length === 0) return [this.#soonest()]
    const total = free.reduce((sum, place) => sum + place.work, work)
    const most = (bound * total) / free.length
    const inOrder = free.toSorted((a, b) => rank(key, b.index) - rank(key, a.index))
    // The least busy replica is always below the limit.
    const chosen = inOrder.find((place) => place.work < most)!
    return [chosen, ...free.filter((place) => place !== chosen).sort(byWork)]
  }

  #leastBusy(): Engine {
    return (this.#places.filter(isFree).sort(byWork)[0] ?? this.#soonest()).engine
  }

  #soonest(): Place {
    const expected = ({ engine }: Place) => engine.retryAfterMs ?? 0
    return this.#places.toSorted((a, b) => expected(a) - expected(b))[0]!
  }
}

const isFree = ({ engine }: Place) => engine.free !== false
const byWork = (a: Place, b: Place) => a.work - b.work

function workOf({ suffixes }: ScoreInput): number {
  let units = 1
  for (const { parts } of suffixes) for (const { text } of parts) units += text.length
  return units
}

/** The rank of a replica for a state: uniform over states, independent between replicas. */
function rank(key: number, replica: number): number {
  // The last step of MurmurHash3.
  let hash = key ^ Math.imul(replica + 1, 0x9e3779b9)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/**
 * The counters of several engines as those of one: sums, also of rates. Only the backlog's time is
 * the largest, as engines work in parallel, and what stands in a row.
 */
function sumStats(all: readonly EngineStats[]): EngineStats {
  const sum: Record<keyof EngineStats, number> = { ...noStats() }
  for (const stats of all) {
    for (const [name, value] of Object.entries(stats)) sum[name as keyof EngineStats] += value
  }
  const most = (name: keyof EngineStats) => Math.max(...all.map((stats) => stats[name]))
  return { ...sum, backlogMs: most('backlogMs'), notFiniteInRow: most('notFiniteInRow') }
}
