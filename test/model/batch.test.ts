/**
 * Batches on a model: shared states are evaluated once, and many items find room.
 *
 * Needs the built addon and the small fixture. Tokens are counted, never times.
 */
import t from 'tap'
import type { Decision, NoulAnswer } from '../../src/decide/types.js'
import { linesType, post } from '../helpers/asking.js'
import { numbers, postBatch, readLines, replyOf, type Result } from '../helpers/batch.js'
import { text } from '../helpers/fixture.js'
import { withRealServer } from '../helpers/real-server.js'

const tolerance = 1e-3

const asking = (i: number) => ({ q: { type: 'noul', instructions: `Is it number ${i}?` } })
const usageOf = (result: Result) => (result as unknown as Decision).usage
const cachedOf = (result: Result) => (result as unknown as Decision).evidence!.cached_tokens
const noulOf = (result: Result) => (result.answers!['q'] as NoulAnswer).noul

t.test('a state that all items share is evaluated once', (t) =>
  withRealServer({ hostCacheBytes: 0 }, async (server) => {
    const count = 16
    const state = text(600)
    const requests = numbers(count).map((i) => ({ state, questions: asking(i) }))
    const before = server.engine.stats()
    const reply = await postBatch(server, { requests }, { 'x-oi-evidence': '1' })
    const allCached = Number(reply.headers.get('x-oi-cached-tokens'))
    const { results, usage } = await replyOf(reply)
    t.ok(results.every(({ status }) => status === 200))

    const after = server.engine.stats()
    const evaluated = after.evaluatedTokens - before.evaluatedTokens
    const padding = after.paddingTokens - before.paddingTokens
    t.equal(evaluated - padding, usage['input_tokens']! - allCached)
    // The item that evaluates a part of the state does so for all: one state's tokens remain.
    const cached = results.map(cachedOf)
    const stateTokens = Math.max(...cached)
    t.ok(stateTokens > 600, `${stateTokens} tokens`)
    t.equal(allCached, (count - 1) * stateTokens)

    const alone = await post(server, requests[3])
    const expected = (await alone.json()) as Decision
    const difference = noulOf(results[3]!) - (expected.answers['q'] as NoulAnswer).noul
    t.ok(Math.abs(difference) < tolerance)
  }),
)

for (const maxQueued of [256, 10]) {
  t.test(`256 items find room if ${maxQueued} may wait`, (t) =>
    withRealServer({ maxQueued, maxBacklogMs: 2 ** 31 }, async (server) => {
      const states = numbers(256).map((i) => `Ticket ${i}`)
      const body = { states, questions: asking(1) }
      const reply = await postBatch(server, body, { accept: linesType })
      const { results, totals } = readLines(await reply.text())
      const failed = results.find(({ status }) => status !== 200)
      t.strictSame(failed, undefined)
      t.equal(new Set(results.map(({ index }) => index)).size, 256)
      const sum = results.reduce((sum, result) => sum + usageOf(result).input_tokens, 0)
      t.equal(totals.usage['input_tokens'], sum)
      t.equal(server.engine.pending, 0)
    }),
  )
}
