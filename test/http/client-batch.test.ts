/** Batches, streams and usage of `oi-systemone/client` with the server itself. */
import t from 'tap'
import { createClient } from '../../src/client/index.js'
import { withFake } from '../helpers/stub.js'

const questions = {
  wet: { type: 'noul', instructions: 'Wet?' },
  team: { type: 'choice', criteria: { a: 'one', b: 'two' } },
} as const
const states = Array.from({ length: 20 }, (_, i) => `It rains ${i} times.`)

const withClient = (use: (client: ReturnType<typeof createClient>) => Promise<void>) =>
  withFake({}, ({ url, key }) => use(createClient({ baseUrl: url, apiKey: key })))

t.test('a batch answers like single requests, and refuses the same', (t) =>
  withClient(async (client) => {
    const choice = { type: 'choice', criteria: {} } as const
    const { results, usage, requestId } = await client.batch(
      [
        { id: 'first', state: states[0]!, questions },
        { state: states[1]!, questions: { q: choice } },
        { id: '', state: states[2]!, questions, model: 'latest' },
      ],
      { evidence: true, requestId: 'mine' },
    )
    const [first, second, third] = results
    const single = await client.decide({ state: states[0]!, questions }, { evidence: true })
    t.match(first, { index: 0, id: 'first', status: 200, model: 'fake' })
    t.strictSame('answers' in first && first.answers, single.answers)
    t.match(second, {
      index: 1,
      status: 422,
      error: { code: 'invalid_request', message: /criteria: expected 1 to 255 options, got 0/ },
    })
    t.match(third, { index: 2, id: '', status: 200, model: 'fake' })
    t.ok(first.error === undefined && third.error === undefined)
    if (first.error === undefined && third.error === undefined) {
      const sum = first.usage.input_tokens + third.usage.input_tokens
      t.equal(usage.input_tokens, sum)
    }
    t.equal(requestId, 'mine')
  }),
)

t.test('a stream has the same results as the batch, and its totals', (t) =>
  withClient(async (client) => {
    const { results } = await client.batch({ states, questions })
    const stream = client.stream({ states, questions })
    let tokens = 0
    const seen = new Set<number>()
    for await (const item of stream) {
      seen.add(item.index)
      const other = results[item.index]!
      if (item.error !== undefined || other.error !== undefined) {
        t.fail('every request is good')
        continue
      }
      t.strictSame(item.answers, other.answers)
      tokens += item.usage.input_tokens
    }
    t.equal(seen.size, states.length)
    t.equal(stream.totals!.usage.input_tokens, tokens)
  }),
)

t.test('a bad envelope is an error of the call', (t) =>
  withClient(async (client) => {
    await t.rejects(client.batch([]), { status: 422, code: 'invalid_request' })
    await t.rejects(client.batch({ states: Array<string>(257).fill('s'), questions }), {
      status: 400,
      code: 'invalid_request',
    })
    const stream = client.stream([])
    await t.rejects(stream[Symbol.asyncIterator]().next(), { status: 422, code: 'invalid_request' })
  }),
)
