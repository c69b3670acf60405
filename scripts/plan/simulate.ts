/**
 * A fleet of nodes, simulated: requests come at random, each node evaluates what it does not have
 * cached, one request after the other, and forgets the state that was not asked about for longest.
 *
 * In turn, all nodes have the same share of everything, so some of them are simulated with theirs. By
 * affinity all are: each has few of the states, and a popular one makes its node unlike the others.
 *
 * @module
 */

export interface Load {
  /** Requests a second to the whole fleet. */
  readonly requests: number
  readonly questions: number
  readonly questionTokens: number
  readonly stateTokens: number
  /** Different states; the n-th is asked about with a weight of 1 / n ** skew. */
  readonly states: number
  readonly skew: number
  /** By affinity a busy node has at most this many times its share; the next one has the rest. */
  readonly bound: number
}

export interface Node {
  /** Tokens that it evaluates a second. */
  readonly tokensPerSecond: number
  /** Tokens of states that it keeps, on the device and in memory. */
  readonly cacheTokens: number
}

/** How a node is chosen. */
export type Balancer = 'turn' | 'affinity'

interface Simulated {
  /** Of the tokens that were sent, 0 to 1. */
  readonly cachedShare: number
  /** Of the nodes' time, 0 to 1 and beyond. */
  readonly utilization: number
  /** From the arrival to the answer, milliseconds. */
  readonly p50Ms: number
  readonly p99Ms: number
}

const mostSimulated = 48
/** Requests for each state, or for each that fits into a cache, before the measuring begins. */
const warmUp = 3
/** Requests that are measured. */
const measured = 300_000

/** Numbers from 0 to 1, the same in every run (xorshift32). */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** Where a state belongs, spread over all nodes. */
const hashOf = (state: number) => Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) >>> 0

class SimulatedNode {
  /** States, the one not asked about for longest first. */
  readonly #cache = new Set<number>()
  /** When the requests under way end, seconds; the earliest at `#first`. */
  readonly #ends: number[] = []
  readonly #mostStates: number
  #first = 0
  #freeAt = 0
  busy = 0

  constructor(mostStates: number) {
    this.#mostStates = mostStates
  }

  underWay(now: number): number {
    while (this.#first < this.#ends.length && this.#ends[this.#first]! <= now) this.#first++
    if (this.#first > 1000) {
      this.#ends.splice(0, this.#first)
      this.#first = 0
    }
    return this.#ends.length - this.#first
  }

  /** Whether the state was cached; it is now. */
  look(state: number): boolean {
    const found = this.#cache.delete(state)
    this.#cache.add(state)
    if (this.#cache.size > this.#mostStates) {
      const [oldest] = this.#cache
      this.#cache.delete(oldest!)
    }
    return found
  }

  /** @returns When the request ends. */
  run(now: number, seconds: number): number {
    this.#freeAt = Math.max(now, this.#freeAt) + seconds
    this.#ends.push(this.#freeAt)
    this.busy += seconds
    return this.#freeAt
  }
}

/** Picks states by how often they are asked about. @returns Of a number from 0 to 1, its state. */
function popularity({ states, skew }: Load): (random: number) => number {
  const sums = new Float64Array(states)
  let all = 0
  for (let state = 0; state < states; state++) sums[state] = all += 1 / (state + 1) ** skew
  return (random) => {
    const wanted = random * all
    let [low, high] = [0, states - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! < wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** How many requests are under way in all: the times when they end, the earliest first. */
class UnderWay {
  readonly #heap: number[] = []

  count(now: number): number {
    while (this.#heap.length > 0 && this.#heap[0]! <= now) this.#removeFirst()
    return this.#heap.length
  }

  add(endAt: number): void {
    const heap = this.#heap
    let at = heap.push(endAt) - 1
    for (let up = (at - 1) >> 1; at > 0 && heap[up]! > endAt; up = (at - 1) >> 1) {
      heap[at] = heap[up]!
      at = up
    }
    heap[at] = endAt
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    let at = 0
    for (let down = 1; down < heap.length; down = 2 * at + 1) {
      if (down + 1 < heap.length && heap[down + 1]! < heap[down]!) down++
      if (heap[down]! >= last) break
      heap[at] = heap[down]!
      at = down
    }
    heap[at] = last
  }
}

/**
 * @param nodes - Of the whole fleet.
 * @param lost - Whether one of the simulated nodes goes when the measuring begins.
 */
export function simulate(
  load: Load,
  node: Node,
  nodes: number,
  balancer: Balancer,
  lost = false,
): Simulated {
  const byHash = balancer === 'affinity'
  const count = byHash ? nodes : Math.min(nodes, mostSimulated)
  const random = createRandom(20_261_129)
  const pick = popularity(load)
  const rate = (load.requests * count) / nodes
  const mostStates = Math.floor(node.cacheTokens / load.stateTokens)
  const all = Array.from({ length: count }, () => new SimulatedNode(mostStates))
  const underWay = new UnderWay()
  const asked = load.questions * load.questionTokens
  const before = warmUp * (byHash ? load.states : count * Math.min(mostStates, load.states))
  const times = new Float64Array(measured)
  let [now, begunAt, evaluated] = [0, 0, 0]
  let alive = count
  for (let i = 0; i < before + measured; i++) {
    now -= Math.log(1 - random()) / rate
    if (i === before) {
      begunAt = now
      for (const one of all) one.busy = 0
      if (lost && count > 1) alive--
    }
    const state = pick(random())
    let at = Math.floor(random() * alive)
    if (byHash) {
      const home = hashOf(state) % count
      // The states of a node that is gone are spread over the others.
      at = home < alive ? home : hashOf(state ^ 0x5bd1e995) % alive
      const most = Math.ceil((load.bound * (underWay.count(now) + 1)) / alive)
      for (let tries = 0; tries < alive && all[at]!.underWay(now) >= most; tries++) {
        at = (at + 1) % alive
      }
    }
    const chosen = all[at]!
    const tokens = asked + (chosen.look(state) ? 0 : load.stateTokens)
    const endAt = chosen.run(now, tokens / node.tokensPerSecond)
    if (byHash) underWay.add(endAt)
    if (i < before) continue
    times[i - before] = endAt - now
    evaluated += tokens
  }
  const busy = all.slice(0, alive).reduce((sum, one) => sum + one.busy, 0)
  times.sort()
  const at = (part: number) => 1000 * times[Math.floor(part * (measured - 1))]!
  return {
    cachedShare: 1 - evaluated / (measured * (asked + load.stateTokens)),
    utilization: busy / ((now - begunAt) * alive),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
}

/** The fewest nodes, to a few percent, that are busy no more than a part of their time. */
export function nodesFor(load: Load, node: Node, balancer: Balancer, mostBusy: number): number {
  const asked = load.questions * load.questionTokens
  const needed = (tokens: number) =>
    Math.max(1, Math.ceil((load.requests * tokens) / (node.tokensPerSecond * mostBusy)))
  let [few, enough] = [needed(asked), needed(asked + load.stateTokens)]
  while (enough - few > Math.max(0.5, 0.03 * enough)) {
    const middle = (few + enough) >> 1
    if (simulate(load, node, middle, balancer).utilization <= mostBusy) enough = middle
    else few = middle + 1
  }
  return enough
}
