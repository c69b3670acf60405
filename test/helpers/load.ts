/**
 * A background of random requests that checks its own answers while it runs.
 *
 * @module
 */

import type { Engine, ScoreInput, ScoreOutput } from '../../src/engine/types.js'
import { input, question, text, user } from './fixture.js'
import { createRandom } from './random.js'
import { relativeError } from './reference.js'

interface LoadReport {
  readonly answered: number
  readonly ended: number
  /** What went wrong, in words; empty if nothing did. */
  readonly wrong: string[]
  /** Sums over the answered requests. */
  readonly promptTokens: number
  readonly cachedTokens: number
}

interface LoadOptions {
  readonly seed: number
  /** Requests in flight. */
  readonly width: number
  /** Whether two answers to the same request agree. */
  readonly same: (a: Float32Array, b: Float32Array) => boolean
  readonly workspace?: number
}

/** Equal bits, or within the bound of the promises. */
export const sameAnswer = (deterministic: boolean) => (a: Float32Array, b: Float32Array) =>
  deterministic
    ? Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(
        Buffer.from(b.buffer, b.byteOffset, b.byteLength),
      )
    : relativeError(a, b) < 1e-3

/** Prompt tokens as tokenize() counts them: the prefix and all suffixes. */
export async function promptTokens(engine: Engine, request: ScoreInput) {
  const count = async (parts: ScoreInput['prefix']) =>
    (await engine.tokenize(parts)).reduce((sum, ids) => sum + ids.length, 0)
  let suffixes = 0
  for (const suffix of request.suffixes) suffixes += await count(suffix.parts)
  return { prefix: await count(request.prefix), suffixes }
}

/** States that stand alone, share their beginning with others, or continue others. */
export function pool(): ScoreInput[] {
  const grown = (base: ScoreInput, tail: string) => ({
    ...base,
    prefix: [...base.prefix, user(tail)],
  })
  const base = input(70, 2, 3)
  return [
    base,
    grown(base, ' And then it rained.'),
    grown(base, ` But nobody came. ${text(30)}`),
    input(33, 3, 1),
    { prefix: [user(`Other: ${text(50)}`)], suffixes: [question(4)] },
    { prefix: [user('Short.')], suffixes: [question(0), question(9)] },
  ]
}

/**
 * Keeps `width` requests in flight until it is stopped: some from the pool above, some new; every
 * fifth is cancelled at a random moment, every ninth has a short deadline.
 */
export async function startLoad(engine: Engine, { seed, width, same, workspace = 2 }: LoadOptions) {
  const random = createRandom(seed)
  const requests = pool()
  const expected = await Promise.all(requests.map((request) => promptTokens(engine, request)))
  const first: (Float32Array | undefined)[] = []
  const report = { answered: 0, ended: 0, wrong: [] as string[], promptTokens: 0, cachedTokens: 0 }
  let running = true
  let count = 0

  const check = async (request: ScoreInput, output: ScoreOutput, known: number) => {
    const counts = known < 0 ? await promptTokens(engine, request) : expected[known]!
    if (output.prefixTokens !== counts.prefix || output.suffixTokens !== counts.suffixes) {
      report.wrong.push(`${output.prefixTokens} + ${output.suffixTokens} tokens were counted`)
    }
    if (output.cachedTokens > output.prefixTokens) report.wrong.push('more cached than there is')
    if (!output.logits.every(Number.isFinite)) report.wrong.push('not finite')
    if (known < 0) return
    first[known] ??= output.logits
    if (!same(output.logits, first[known])) {
      report.wrong.push(`request ${known}: ${relativeError(output.logits, first[known])}`)
    }
  }
  const one = async () => {
    const id = ++count
    const known = random.integer(3) > 0 ? random.integer(requests.length) : -1
    const request =
      known < 0
        ? { prefix: [user(`${id}: ${text(5 + random.integer(60))}`)], suffixes: [question(id)] }
        : requests[known]!
    const cancelling = random.integer(5) === 0 ? new AbortController() : undefined
    if (cancelling) setTimeout(() => cancelling.abort(), random.integer(40))
    const deadlineMs = random.integer(9) === 0 ? random.integer(40) : undefined
    try {
      const output = await engine.score(request, {
        signal: cancelling?.signal,
        deadlineMs,
        workspace,
      })
      report.answered++
      report.promptTokens += output.prefixTokens + output.suffixTokens
      report.cachedTokens += output.cachedTokens
      await check(request, output, known)
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      const meant = (cancelling && code === 'ERR_ABORTED') || (deadlineMs && code === 'ERR_TIMEOUT')
      report.ended++
      if (!meant && !(deadlineMs === 0 && code === 'ERR_TIMEOUT')) {
        report.wrong.push(`${code}: ${message}`)
      }
    }
  }
  const loops = Array.from({ length: width }, async () => {
    while (running) await one()
  })
  return {
    async stop(): Promise<LoadReport> {
      running = false
      await Promise.all(loops)
      return report
    },
  }
}
