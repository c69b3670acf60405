/**
 * A client of this API family that exists already, unmodified.
 */
import t from 'tap'
import { AuthenticationError, NotFoundError, noul, TypeSafeClient } from '@typesafe-ai/sdk'
import { OiError } from '../../src/errors.js'
import { decision, stubDecider, withServer } from '../helpers/stub.js'

const asking = { state: 'I was charged twice.', questions: { q: noul('About a payment?') } }

t.test('it lists the models and asks', (t) =>
  withServer({}, async ({ url, key }) => {
    const client = new TypeSafeClient({ baseURL: url, apiKey: key })
    t.match(await client.models.list(), [{ name: 'stub' }])
    const { data, requestId } = await client
      .systemOne(asking, { headers: { 'x-request-id': 'mine' } })
      .withResponse()
    t.match(data, { model: 'stub', answers: { q: { noul: 0.75 } } })
    t.equal(requestId, 'mine')
  }),
)

t.test('it knows a refused key from other errors', (t) =>
  withServer({}, async ({ url }) => {
    const client = new TypeSafeClient({ baseURL: url, apiKey: 'oi-wrong' })
    await t.rejects(client.systemOne(asking), AuthenticationError)
    const elsewhere = new TypeSafeClient({ baseURL: `${url}/nowhere`, apiKey: 'oi-wrong' })
    await t.rejects(elsewhere.systemOne(asking), NotFoundError)
  }),
)

t.test('it waits as long as a 503 says, and tries again', async (t) => {
  let tries = 0
  const decider = stubDecider(async () => {
    tries++
    if (tries === 1) throw new OiError('ERR_OVERLOADED', 'queue full', { retryAfterMs: 120 })
    return decision
  })
  await withServer({ decider }, async ({ url, key }) => {
    const startMs = performance.now()
    const client = new TypeSafeClient({ baseURL: url, apiKey: key })
    t.match(await client.systemOne(asking), { model: 'stub' })
    const waitedMs = performance.now() - startMs
    t.equal(tries, 2)
    t.ok(waitedMs >= 115 && waitedMs < 900, `${waitedMs} ms`)
  })
})
