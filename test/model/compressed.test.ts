/**
 * The cost of compressed bodies to the engine: same steps, tokens and answers as plain ones.
 *
 * Needs the built addon and the small fixture.
 */
import t from 'tap'
import { gzipSync } from 'node:zlib'
import { text } from '../helpers/fixture.js'
import { withRealServer } from '../helpers/real-server.js'
import { zstdStored } from '../helpers/compressed.js'

/** Some come twice, so that caches take part. */
const bodies = Array.from({ length: 20 }, (_, i) =>
  JSON.stringify({
    state: `${i % 15}: ${text(150 + 10 * (i % 15))}`,
    questions: {
      a: { type: 'noul', instructions: 'Is it so?' },
      b: { type: 'choice', instructions: 'Which?', criteria: { river: null, stone: 'hard' } },
    },
  }),
)

/** Sends all of them, one after another, to a new server. */
async function costOf(coding: string | undefined, code: (body: string) => Uint8Array) {
  const answers: unknown[] = []
  let cost: Record<string, number> = {}
  await withRealServer({}, async ({ url, key, engine }) => {
    for (const body of bodies) {
      const headers = {
        ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(coding !== undefined && { 'content-encoding': coding }),
      }
      const reply = await fetch(`${url}/v1/systemone`, {
        ...{ method: 'POST', headers, body: new Uint8Array(code(body)) },
      })
      const { model, answers: given, usage } = (await reply.json()) as Record<string, unknown>
      const cached = reply.headers.get('x-oi-cached-tokens')
      answers.push({ model, answers: given, usage, cached })
    }
    const { steps, evaluatedTokens, paddingTokens, promptTokens, ...rest } = engine.stats()
    const { deviceCachedTokens, hostCachedTokens, answered, busyMs } = rest
    cost = { steps, evaluatedTokens, paddingTokens, promptTokens, deviceCachedTokens }
    cost = { ...cost, hostCachedTokens, answered }
    t.comment(
      `${coding ?? 'plain'}: ${steps} steps, ${evaluatedTokens} tokens evaluated, ` +
        `${busyMs.toFixed(0)} ms in the engine`,
    )
  })
  return { cost, answers }
}

t.test('a compressed body costs the engine the same as the plain one', async (t) => {
  const plain = await costOf(undefined, (body) => Buffer.from(body))
  t.equal(plain.cost['answered'], bodies.length)
  t.ok(plain.cost['deviceCachedTokens']! > 0, 'those that came twice were found')
  t.strictSame(await costOf('gzip', (body) => gzipSync(body)), plain)
  t.strictSame(await costOf('zstd', (body) => zstdStored(Buffer.from(body))), plain)
})
