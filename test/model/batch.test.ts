/**
 * Many items of a batch find room on a model. A state that they share is evaluated once:
 * test/native/caches.test.ts.
 *
 * Needs the built addon and the small fixture. Tokens are counted, never times.
 */
import t from 'tap'
import type { Decision } from '../../src/decide/types.js'
import { linesType } from '../helpers/asking.js'
import { numbers, postBatch, readLines } from '../helpers/batch.js'
import { withRealServer } from '../helpers/real-server.js'

const questions = { q: { type: 'noul', instructions: 'Is it number 1?' } }

for (const maxQueued of [256, 10]) {
  t.test(`256 items find room if ${maxQueued} may wait`, (t) =>
    withRealServer({ maxQueued, maxBacklogMs: 2 ** 31 }, async (server) => {
      const states = numbers(256).map((i) => `Ticket ${i}`)
      const reply = await postBatch(server, { states, questions }, { accept: linesType })
      const { results, totals } = readLines(await reply.text())
      const failed = results.find(({ status }) => status !== 200)
      t.strictSame(failed, undefined)
      t.equal(new Set(results.map(({ index }) => index)).size, 256)
      const usages = results.map((result) => (result as unknown as Decision).usage)
      const sum = usages.reduce((all, { input_tokens }) => all + input_tokens, 0)
      t.equal(totals.usage['input_tokens'], sum)
      t.equal(server.engine.pending, 0)
    }),
  )
}
