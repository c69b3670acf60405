/**
 * GET /v1/usage: limits and usage of the key's workspace.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { good, withState } from '../../../test/helpers/request-text.js'
import { bodyOf, type Context, refusalOf } from '../context.js'
import { check, equal, object, show } from '../expect.js'
import { section } from '../rule.js'

const path = '/v1/usage'
const tries = 3

/** The workspace's usage; the key's own is beside it, under `key`. */
async function report(context: Context): Promise<Record<string, unknown>> {
  const reply = await context.get(path)
  equal('status', reply.status, 200)
  const { key, ...workspace } = bodyOf(reply)
  if (key !== undefined) object('key', key)
  return workspace
}

/** Sums every number under this name, at any depth: the form is the server's own. */
function total(value: unknown, name: string): number {
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce(
    (sum, [key, member]) =>
      sum + (key === name && typeof member === 'number' ? member : total(member, name)),
    0,
  )
}

/**
 * Requires that an action adds this to the report. Other clients of the workspace may be asking at
 * the same time: one success is enough.
 */
async function requireGrowth(
  context: Context,
  act: () => Promise<Readonly<Record<string, number>>>,
): Promise<void> {
  let wrong = ''
  for (let left = tries; left > 0; left--) {
    const before = await report(context)
    const expected = await act()
    const after = await report(context)
    const grown = Object.fromEntries(
      Object.keys(expected).map((name) => [name, total(after, name) - total(before, name)]),
    )
    if (isDeepStrictEqual(grown, expected)) return
    wrong = `expected ${show(expected)} more, got ${show(grown)}`
  }
  check(false, wrong)
}

export const usageRules = section('decisions/Keys, workspaces, limits, money', {
  'GET /v1/usage has balance and limits': async (context) => {
    const { balance, limits } = await report(context)
    check(balance === null || Number.isSafeInteger(balance), `balance: got ${show(balance)}`)
    object('limits', limits)
  },
  'an answered request is booked once: requests and tokens': async (context) => {
    await requireGrowth(context, async () => {
      const { usage } = await context.answer(good)
      const { input_tokens = 0, output_tokens = 0 } = usage
      return { requests: 1, input_tokens, output_tokens }
    })
  },
  'a refused request costs nothing': async (context) => {
    await requireGrowth(context, async () => {
      await context.refuse('{', 422)
      return { input_tokens: 0, output_tokens: 0 }
    })
  },
  'Idempotency-Key: a repeated request is answered, charged once, and says so': async (context) => {
    await requireGrowth(context, async () => {
      const headers = { 'idempotency-key': randomUUID() }
      const { usage, reply } = await context.answer(good, headers)
      equal('x-oi-charged of the first', reply.headers['x-oi-charged'], '1')
      for (const again of ['second', 'third']) {
        const { reply: repeated } = await context.answer(good, headers)
        equal(`x-oi-charged of the ${again}`, repeated.headers['x-oi-charged'], '0')
      }
      const { input_tokens = 0, output_tokens = 0 } = usage
      return { input_tokens, output_tokens }
    })
    const { reply } = await context.answer(good)
    equal('x-oi-charged without a key', reply.headers['x-oi-charged'], undefined)
  },
  'Idempotency-Key: two at the same time are charged once': async (context) => {
    const headers = { 'idempotency-key': randomUUID() }
    const replies = await Promise.all([1, 2, 3].map(() => context.answer(good, headers)))
    const charged = replies.map(({ reply }) => reply.headers['x-oi-charged']).toSorted()
    equal('x-oi-charged of all', charged, ['0', '0', '1'])
  },
  'Idempotency-Key: another body under the same key is 422 idempotency_key_reused': async (
    context,
  ) => {
    const headers = { 'idempotency-key': randomUUID() }
    await context.answer(good, headers)
    const reply = await context.post(withState('"Something else."'), headers)
    refusalOf(reply, 422, 'idempotency_key_reused')
  },
  'Idempotency-Key: a refused request keeps no key': async (context) => {
    const headers = { 'idempotency-key': randomUUID() }
    refusalOf(await context.post('{', headers), 422, 'invalid_request')
    const { reply } = await context.answer(good, headers)
    equal('x-oi-charged', reply.headers['x-oi-charged'], '1')
  },
  'GET /v1/usage without a key is 401': async ({ client }) => {
    refusalOf(await client.send({ path }), 401, 'invalid_api_key')
  },
})
