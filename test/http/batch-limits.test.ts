/** How batches count in a workspace's limits, and what they cost. */
import t from 'tap'
import type { Decision } from '../../src/decide/types.js'
import { OiError } from '../../src/errors.js'
import type { Admission } from '../../src/http/access/admission.js'
import { linesType } from '../helpers/asking.js'
import { about, numbers, postBatch, replyOf, requestsAbout } from '../helpers/batch.js'
import { stubDecider, withServer } from '../helpers/stub.js'

/** Admits this many requests, and remembers all that it was asked for. */
class CountingAdmission implements Admission {
  left: number
  entered = 0
  inside = 0
  booked = 0
  crowded = false
  readonly #error: OiError

  constructor(
    left: number,
    error = new OiError('ERR_RATE_LIMIT', 'no more', { retryAfterMs: 5000 }),
  ) {
    this.left = left
    this.#error = error
  }

  requireFunds(): void {}

  take(_caller: unknown, count: number): void {
    if (count > this.left) throw this.#error
    this.left -= count
  }

  giveBack(): void {
    this.left++
  }

  requireRoom(): void {
    if (this.crowded) throw new OiError('ERR_CONCURRENCY', 'too many wait')
  }

  enter(): undefined {
    this.inside++
    this.entered++
  }

  leave(): void {
    this.inside--
  }

  book(_caller: unknown, { model }: Pick<Decision, 'model'>): undefined {
    if (model === 'stub') this.booked++
  }

  headers(): readonly string[] {
    return ['x-ratelimit-remaining-requests', String(this.left)]
  }
}

t.test('a call takes one place, one request per valid item, and pays for answers', async (t) => {
  const admission = new CountingAdmission(10)
  await withServer({ admission }, async (server) => {
    const reply = await postBatch(server, { requests: [about(1), 'wrong', about(3)] })
    t.equal(reply.headers.get('x-ratelimit-remaining-requests'), '7')
    await reply.text()
    t.match(admission, { left: 7, entered: 2, inside: 0, booked: 2 })
    await (await postBatch(server, requestsAbout([1]), { accept: linesType })).text()
    t.match(admission, { left: 6, entered: 3, inside: 0, booked: 3 })
  })
})

t.test('items beyond the allowance have 429, and the call has 200', async (t) => {
  for (const accept of ['application/json', linesType]) {
    const admission = new CountingAdmission(3)
    await withServer({ admission }, async (server) => {
      const reply = await postBatch(server, requestsAbout(numbers(5)), { accept })
      t.equal(reply.status, 200)
      const text = await reply.text()
      t.equal(text.match(/"status":429,"error":\{"code":"rate_limit_exceeded"/g)?.length, 2)
      t.match(text, /"index":3,"status":429/)
      t.match(admission, { left: 0, inside: 0, booked: 3 })
    })
  }
})

for (const [error, status, code] of [
  [undefined, 429, 'rate_limit_exceeded'],
  [new OiError('ERR_BALANCE', 'nothing left'), 402, 'insufficient_balance'],
] as const) {
  t.test(`a call without a single admitted item is refused with ${status}`, async (t) => {
    const admission = new CountingAdmission(0, error)
    await withServer({ admission }, async (server) => {
      const reply = await postBatch(server, requestsAbout(numbers(5)), { accept: linesType })
      t.equal(reply.status, status)
      t.match(reply.headers.get('retry-after'), status === 429 ? /^[5-8]$/ : null)
      t.match(await reply.json(), { error: { code } })
      t.match(admission, { inside: 0, booked: 0 })
    })
  })
}

t.test('an unreadable call counts as one request', async (t) => {
  const admission = new CountingAdmission(10)
  await withServer({ admission }, async (server) => {
    t.equal((await postBatch(server, '{}')).status, 422)
    t.match(admission, { left: 9, inside: 0, booked: 0 })
  })
})

t.test('if too many requests wait for a place already, the call is refused', async (t) => {
  const admission = new CountingAdmission(10)
  admission.crowded = true
  await withServer({ admission }, async (server) => {
    const reply = await postBatch(server, requestsAbout([1]))
    t.equal(reply.status, 429)
    t.match(await reply.json(), { error: { code: 'concurrency_limit_exceeded' } })
    t.match(admission, { left: 10, inside: 0 })
  })
})

t.test('refused items never reach the model', async (t) => {
  const asked: unknown[] = []
  const decider = stubDecider(async ({ state }) => {
    asked.push(state)
    throw new OiError('ERR_TIMEOUT', 'not in time')
  })
  const admission = new CountingAdmission(2)
  await withServer({ decider, admission }, async (server) => {
    const { results } = await replyOf(await postBatch(server, requestsAbout([1, 2, 3])))
    const statuses = results.map(({ status }) => status)
    t.strictSame(statuses, [504, 504, 429])
    t.strictSame(asked, [1, 2])
    t.equal(admission.booked, 0)
  })
})
