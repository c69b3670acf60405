/**
 * What clients saw, by workspace, and violations.
 *
 * Rules
 *   1. An answer counts as received when its last byte has arrived. If a client left, or a
 *      connection ended before a reply, it is not known whether it was answered: unknown.
 *   2. So each workspace's booked requests lie between the received ones and those plus the unknown
 *      ones, and are equal if none is unknown. The same holds for their cost.
 *   3. Where no balance is at stake, a killed server may lose the answers of its last moment.
 *
 * @module
 */

/** Tokens of an answer; at one credit per million they are its cost in millionths. */
export interface Usage {
  readonly input_tokens: number
  readonly output_tokens: number
}

/** Statuses of the contract, without 500, which is a fault of the server. */
const contract = new Set([
  200, 204, 400, 401, 402, 404, 405, 408, 413, 415, 417, 422, 429, 431, 503, 504,
])

const shownViolations = 50
const keptLast = 1000

class WorkspaceTally {
  /** Answers with status 200 that were read to their end. */
  received = 0
  /** Tokens of those. */
  tokens = 0
  /** Answers with an unknown outcome (rule 1). */
  unknown = 0
  /** Of the received ones, those that need not be booked, and their tokens (rule 3). */
  forgiven = 0
  forgivenTokens = 0
  /** The last answers: when they came, and their tokens. */
  #last: { readonly atMs: number; readonly tokens: number }[] = []

  /** Adds an answer that was read to its end. */
  add({ input_tokens, output_tokens }: Usage): void {
    this.received++
    this.tokens += input_tokens + output_tokens
    this.#last.push({ atMs: performance.now(), tokens: input_tokens + output_tokens })
    if (this.#last.length > keptLast) this.#last = this.#last.slice(-keptLast / 2)
  }

  /** The server was killed: the answers of its last moment need not be booked. */
  forgive(lastMs: number): void {
    const fromMs = (this.#last.at(-1)?.atMs ?? 0) - lastMs
    for (const { atMs, tokens } of this.#last.splice(0)) {
      if (atMs < fromMs) continue
      this.forgiven++
      this.forgivenTokens += tokens
    }
  }
}

export class Tally {
  readonly #workspaces = new Map<string, WorkspaceTally>()
  /** Kind of client -> what it saw -> how often. */
  readonly #seen = new Map<string, Map<string, number>>()
  /** Violation -> time of the first, and number. */
  readonly #violations = new Map<string, { readonly first: string; count: number }>()

  of(workspace: string): WorkspaceTally {
    const tally = this.#workspaces.get(workspace) ?? new WorkspaceTally()
    this.#workspaces.set(workspace, tally)
    return tally
  }

  /** Counts an outcome of a kind of client; a status outside of the contract is a violation. */
  see(kind: string, what: number | string): void {
    const seen = this.#seen.get(kind) ?? new Map<string, number>()
    this.#seen.set(kind, seen)
    seen.set(String(what), (seen.get(String(what)) ?? 0) + 1)
    if (typeof what === 'number' && !contract.has(what)) this.violate(`${kind}: status ${what}`)
  }

  /** The outcomes of a kind of client, and their numbers. */
  seenBy(kind: string): ReadonlyMap<string, number> {
    return this.#seen.get(kind) ?? new Map<string, number>()
  }

  violate(what: string): void {
    const known = this.#violations.get(what)
    if (known !== undefined) known.count++
    else this.#violations.set(what, { first: new Date().toISOString(), count: 1 })
  }

  /** A line for each of the first kinds of violations. */
  violationLines(): string[] {
    return [...this.#violations]
      .slice(0, shownViolations)
      .map(([what, { first, count }]) => `${first} ${count} times: ${what}`)
  }

  /** A line for each kind of client. */
  lines(): string[] {
    return [...this.#seen].map(([kind, seen]) => {
      const counts = [...seen].sort(([, a], [, b]) => b - a)
      return `${kind.padEnd(14)} ${counts.map(([what, count]) => `${what}: ${count}`).join(', ')}`
    })
  }
}
