/** Items of a batch fail one by one. */
import t from 'tap'
import { validators } from '../../src/api/schemas.js'
import { OiError } from '../../src/errors.js'
import { linesType } from '../helpers/asking.js'
import { about, type BatchReply, postBatch, readLines, replyOf } from '../helpers/batch.js'
import { decision, stubDecider, withFake, withServer } from '../helpers/stub.js'

const readWhole = (text: string) => {
  const totals = JSON.parse(text) as BatchReply
  return { results: totals.results, totals }
}

t.test('failed items have their reason, and the others are answered', async (t) => {
  const errors: Record<string, Error> = {
    long: new OiError('ERR_STATE_TOO_LONG', 'state: expected 9 tokens', { param: 'state' }),
    busy: new OiError('ERR_OVERLOADED', 'too much is waiting'),
    late: new OiError('ERR_TIMEOUT', 'not in time'),
    fault: new Error('inner secret'),
    broken: new OiError('ERR_ENGINE_INTERNAL', 'inner secret'),
  }
  const decider = stubDecider(async ({ state }) => {
    if (state === 'unwritable') return { ...decision, usage: null as never }
    const error = errors[state as string]
    if (error !== undefined) throw error
    return decision
  })
  await withServer({ decider }, async (server) => {
    const requests = [
      about('long', { id: 'l' }),
      about('busy', { id: 'b' }),
      about('late'),
      about('fault'),
      about('broken'),
      about('unwritable'),
      { id: 'x', state: 1 },
      'no object',
      about('fine', { id: '"\\\n' }),
    ]
    for (const accept of ['application/json', linesType]) {
      const headers = { accept, 'x-request-id': 'find-me' }
      const reply = await postBatch(server, { requests }, headers)
      t.equal(reply.status, 200)
      const text = await reply.text()
      const { results: given, totals } = accept === linesType ? readLines(text) : readWhole(text)
      const results = given.toSorted((a, b) => a.index - b.index)
      t.match(results, [
        { id: 'l', status: 400, error: { code: 'invalid_request', param: 'requests[0].state' } },
        { id: 'b', status: 503, error: { code: 'overloaded', message: 'too much is waiting' } },
        { status: 504, error: { code: 'timeout' }, detail: 'not in time' },
        { status: 500, error: { code: 'internal_error', message: /find-me/ } },
        { status: 500, error: { code: 'internal_error' } },
        { status: 500, error: { code: 'internal_error' } },
        { id: 'x', status: 422, error: { param: 'requests[6].questions' } },
        { status: 422, detail: 'requests[7]: expected an object, got a string' },
        { id: '"\\\n', status: 200, answers: decision.answers },
      ])
      for (const [i, result] of results.entries()) {
        t.equal(result.index, i)
        t.ok(validators.batchItem.Check(result), JSON.stringify(result))
      }
      t.strictSame(totals.usage, decision.usage, 'of the one that was answered')
      t.notOk(text.includes('secret'))
      const faults = server.log.splice(0).filter((line) => line.includes('"fault"'))
      t.equal(faults.length, 3)
    }
  })
})

t.test('a batch of bad items only is still answered with 200', (t) =>
  withFake({}, async (server) => {
    const reply = await postBatch(server, { requests: [1, {}] })
    t.equal(reply.status, 200)
    const body = await replyOf(reply)
    t.ok(validators.batchResponse.Check(body))
    t.match(body, { results: [{ status: 422 }, { status: 422 }], latency_ms: 0 })
    t.strictSame(body.usage, { input_tokens: 0, output_tokens: 0 })
  }),
)
