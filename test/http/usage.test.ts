import t from 'tap'
import { validators } from '../../src/api/schemas.js'
import { get } from '../helpers/asking.js'
import { withLimits } from '../helpers/limited.js'
import { decision, stubDecider } from '../helpers/stub.js'

t.test('usage: balance, limits, and usage including the last answer', (t) =>
  withLimits({ requestsPerMinute: 100 }, {}, async (server) => {
    const { accounts, post, workspaceId } = server
    accounts.prices.set('stub', { input: 2_000_000, output: 5_000_000 })
    const report = async () => {
      const reply = await get(server, '/v1/usage')
      const body: unknown = await reply.json()
      t.equal(reply.status, 200)
      t.ok(validators.usage.Check(body), JSON.stringify(validators.usage.Errors(body)))
      return body
    }
    const before = {
      workspace: 'default',
      balance: null,
      budget: null,
      limits: { requests_per_minute: 100, concurrent: 256 },
      usage: [],
    }
    t.strictSame(await report(), { ...before, key: { name: 'first', usage: [] } })
    await post()
    await post()
    const used = {
      day: new Date().toISOString().slice(0, 10),
      ...{ model: 'stub', requests: 2, input_tokens: 24, output_tokens: 6 },
      ...{ image_tokens: 0, cached_tokens: 0, cost: 2 * (12 * 2 + 3 * 5) },
    }
    const both = { ...before, usage: [used], key: { name: 'first', usage: [used] } }
    t.strictSame(await report(), both)
    accounts.credits.add(workspaceId, 1_000_000)
    await post()
    t.match(await report(), { balance: 1_000_000 - 39, usage: [{ requests: 3, cost: 117 }] })
  }),
)

t.test('images and cached tokens are in the report, and images have their own price', async (t) => {
  const usage = { input_tokens: 100, image_tokens: 40, output_tokens: 2 }
  const decider = stubDecider(async () => ({ ...decision, usage, cached_tokens: 30 }))
  await withLimits({}, { decider }, async ({ accounts, post }) => {
    accounts.prices.set('stub', { input: 1_000_000, output: 10_000_000, image: 3_000_000 })
    await post()
    t.match(accounts.usage('default').usage, [
      { imageTokens: 40, cachedTokens: 30, cost: 60 + 40 * 3 + 20 },
    ])
  })
})
