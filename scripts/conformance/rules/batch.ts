/**
 * POST /v1/systemone/batch: envelopes, items and totals.
 *
 * @module
 */

import {
  good,
  many,
  noul,
  requests,
  states,
  withModel,
  withState,
} from '../../../test/helpers/request-text.js'
import type { Reply } from '../client.js'
import { batchPath, bodyOf, type Context, refusalOf } from '../context.js'
import { about, between, check, each, equal, list, near, object } from '../expect.js'
import { sameAnswer, skip, text, whole } from '../expect.js'
import { section } from '../rule.js'

const post = (context: Context, body: string, headers: Record<string, string> = {}) =>
  context.post(body, headers, batchPath)

type Item = Readonly<Record<string, unknown>>

/** Four items, two of them with different mistakes. */
const mixed = [
  withId(good, 'first'),
  withId(withState('null'), 'a null state'),
  good,
  withId(withModel('"no-such-model"'), '__proto__'),
]
const statuses = [200, 422, 200, 400]

function withId(body: string, id: string): string {
  return `{"id":${JSON.stringify(id)},${body.slice(1)}`
}

async function answered(context: Context, body: string): Promise<Reply> {
  const reply = await post(context, body)
  check(reply.status === 200, `expected 200, got ${reply.status}: ${reply.text.slice(0, 200)}`)
  return reply
}

async function resultsOf(context: Context, body: string): Promise<readonly Item[]> {
  return itemsOf(bodyOf(await answered(context, body))['results'])
}

function itemsOf(results: unknown): readonly Item[] {
  list('results', results)
  for (const item of results) object('item', item)
  return results as Item[]
}

const eachsOwn = (name: string, items: readonly Item[]) => items.map((item) => item[name])
const statusesOf = (items: readonly Item[]) => eachsOwn('status', items)

/** Requires of each item what its status promises. */
function requireShape(item: Item): void {
  if (item['status'] === 200) {
    text('model', item['model'])
    object('answers', item['answers'])
    object('usage', item['usage'])
    between('latency_ms', item['latency_ms'], 0, Number.MAX_VALUE)
    return
  }
  const { error, detail } = item
  object('error', error)
  equal('error.code', error['code'], 'invalid_request')
  text('error.message', error['message'])
  equal('detail', detail, error['message'])
}

const counts = ['input_tokens', 'output_tokens'] as const

function requireTotals(totals: Record<string, unknown>, items: readonly Item[]): void {
  const { usage } = totals
  object('usage', usage)
  for (const count of counts) {
    const sum = items.reduce((all, item) => {
      const own = item['usage'] as Record<string, number> | undefined
      return all + (own?.[count] ?? 0)
    }, 0)
    equal(`usage.${count}`, usage[count], sum)
  }
  between('latency_ms', totals['latency_ms'], 0, Number.MAX_VALUE)
}

/** States of different lengths with different answers, as JSON. */
const moods = [
  '"I was charged twice!"',
  '{"weather":["rain"]}',
  '"ok"',
  '7',
  '["a",["dog"]]',
  '"."',
]

/** Requires each item to have the answer, and the tokens, of its request alone. */
async function requireAsAlone(
  context: Context,
  batchOf: (bodies: readonly string[]) => string,
): Promise<void> {
  const bodies = moods.map(withState)
  const items = await resultsOf(context, batchOf(bodies))
  for (const [i, body] of bodies.entries()) {
    const { answers, usage } = await context.answer(body)
    await about(`item ${i}`, async () => {
      object('item', items[i])
      const { answers: beside, usage: own } = items[i] as {
        answers?: Record<string, { noul?: unknown }>
        usage?: { input_tokens?: number }
      }
      near('noul', beside?.['q']?.noul, answers['q']!.noul!, sameAnswer)
      equal('input_tokens', own?.input_tokens, usage['input_tokens'])
    })
  }
}

const wrongEnvelopes: Readonly<Record<string, string>> = {
  'not JSON': '{"requests":[',
  'an array': `[${good}]`,
  'neither requests nor states': '{}',
  'both requests and states': `{"requests":[${good}],"states":["s"],"questions":{"q":${noul}}}`,
  'requests that are no array': `{"requests":${good}}`,
  'no requests': requests([]),
  'no states': states([]),
  'states without questions': '{"states":["s"]}',
  'states that are no array': `{"states":"s","questions":{"q":${noul}}}`,
}

const percent = (share: number) => `${Math.round(100 * share)} %`

export const batchRules = section('decisions/Batch', {
  'requests: each item has its result, in order, with its index and id': async (context) => {
    const items = await resultsOf(context, requests(mixed))
    equal('indices', eachsOwn('index', items), [0, 1, 2, 3])
    equal('ids', eachsOwn('id', items), ['first', 'a null state', undefined, '__proto__'])
  },
  'requests: one bad item does not fail the call': async (context) => {
    equal('statuses', statusesOf(await resultsOf(context, requests(mixed))), statuses)
  },
  'an answered item has model, answers, usage and latency_ms, another one error and detail': async (
    context,
  ) => {
    await each(await resultsOf(context, requests(mixed)), requireShape)
  },
  'requests: model is that of items without one': async (context) => {
    const [unknown, own] = await resultsOf(
      context,
      requests([good, withModel('"default"')], ',"model":"no-such-model"'),
    )
    equal('statuses', [unknown?.['status'], own?.['status']], [400, 200])
  },
  'states: the same questions are answered about each state': async (context) => {
    const items = await resultsOf(context, states(['"s"', 'null', '{"a":1}', 'false']))
    equal('statuses', statusesOf(items), [200, 422, 200, 200])
    for (const item of items) requireShape(item)
  },
  'requests: an item is answered as it is alone': (context) =>
    requireAsAlone(context, (bodies) => requests(bodies)),
  'states: an item is answered as it is alone': (context) =>
    requireAsAlone(context, () => states(moods)),
  'usage has the totals of the items, and there is a latency_ms': async (context) => {
    for (const items of [
      mixed,
      mixed.toReversed(),
      [good],
      [...mixed, withState('"And a dog."')],
    ]) {
      const body = bodyOf(await answered(context, requests(items)))
      equal('fields', Object.keys(body).sort(), ['latency_ms', 'results', 'usage'])
      requireTotals(body, itemsOf(body['results']))
    }
  },
  'as many items as the model takes are answered': async (context) => {
    const { max_batch: count = 0 } = (await context.card()).limits
    whole('max_batch', count, 1)
    const items = await resultsOf(context, requests(many(count, good)))
    equal('results', items.length, count)
    equal('different statuses', [...new Set(statusesOf(items))], [200])
  },
  'more than 256 items are refused with 400': async (context) => {
    for (const body of [requests(many(257, good)), states(many(257, '"s"'))]) {
      refusalOf(await post(context, body), 400, 'invalid_request')
    }
  },
  'a wrong envelope is refused with 400 or 422': (context) =>
    each(wrongEnvelopes, async (body) => {
      const reply = await post(context, body)
      refusalOf(reply, reply.status === 400 ? 400 : 422, 'invalid_request')
    }),
  'NDJSON: one result per line in any order, then the totals': async (context) => {
    const reply = await post(context, requests(mixed), { accept: 'application/x-ndjson' })
    equal('status', reply.status, 200)
    text('content-type', reply.headers['content-type'], /^application\/x-ndjson\b/)
    check(reply.text.endsWith('\n'), 'the last line has no end')
    // An empty line only says that the stream is alive.
    const lines = reply.text.split('\n').filter((line) => line !== '')
    const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    const items = itemsOf(parsed.slice(0, -1)).toSorted(
      (a, b) => Number(a['index']) - Number(b['index']),
    )
    equal('indices', eachsOwn('index', items), [0, 1, 2, 3])
    equal('statuses', statusesOf(items), statuses)
    for (const item of items) requireShape(item)
    const totals = parsed.at(-1)!
    equal('fields of the last line', Object.keys(totals).sort(), ['latency_ms', 'usage'])
    requireTotals(totals, items)
  },
  'NDJSON: a result is sent when it is ready, not with the last of them': async (context) => {
    const { max_batch: most = 1 } = (await context.card()).limits
    if (most < 32) skip(`a batch has at most ${most} items`)
    const count = Math.min(most, 128)
    const items = Array.from({ length: count }, (_, i) => withState(`"${'rain '.repeat(i % 97)}"`))
    // With few places at once its items take turns, however fast the model is.
    const { key, narrow = key } = context.keys
    const headers = { accept: 'application/x-ndjson', authorization: `Bearer ${narrow}` }
    const shares: number[] = []
    // A busy machine may keep the first of them from the reader now and then.
    for (let left = 4; left > 0; left--) {
      const reply = await post(context, requests(items), headers)
      equal('status', reply.status, 200)
      shares.push(reply.firstMs / reply.lastMs)
      if (shares.at(-1)! < 0.8) return
    }
    check(
      false,
      `the first line came after these shares of the time: ${shares.map(percent).join()}`,
    )
  },
  'NDJSON: it is sent to who prefers it, by the weights of Accept': async (context) => {
    for (const [accept, type] of [
      ['application/x-ndjson;q=0', 'application/json'],
      ['application/json, application/x-ndjson;q=0.5', 'application/json'],
      ['application/x-ndjson, application/json;q=0.5', 'application/x-ndjson'],
      ['*/*', 'application/json'],
    ] as const) {
      const { headers } = await post(context, requests([good]), { accept })
      equal(`content-type for ${accept}`, headers['content-type']?.split(';')[0], type)
    }
  },
  'a name that stands twice in the envelope or in an item is refused with 422': async (context) => {
    const twice = `{"requests":[${good}],"requests":[${good}]}`
    refusalOf(await post(context, twice), 422, 'invalid_request', 'requests')
    const items = await resultsOf(context, requests([`{"state":1,"state":2,"questions":{}}`, good]))
    equal('statuses', statusesOf(items), [422, 200])
  },
  'NDJSON: a wrong envelope is an error as any other': async (context) => {
    const reply = await post(context, '{}', { accept: 'application/x-ndjson' })
    refusalOf(reply, reply.status === 400 ? 400 : 422, 'invalid_request')
  },
  'each item counts as one request in rate limits': async (context) => {
    const remaining = ({ headers }: Reply) => Number(headers['x-ratelimit-remaining-requests'])
    if (Number.isNaN(remaining(await context.get('/v1/models')))) {
      skip('the workspace has no limit of requests')
    }
    let taken = 0
    // A sliding window gives earlier requests back meanwhile, which can hide some.
    for (let attempt = 0; attempt < 10 && taken < 5; attempt++) {
      const before = await context.get('/v1/models')
      const after = await answered(context, requests([good, good, good, good, good]))
      taken = Math.max(taken, remaining(before) - remaining(after))
    }
    check(taken >= 5, `5 items took ${taken} requests`)
  },
  'without a key it is 401, and another method 405': async (context) => {
    const sent = { path: batchPath, body: requests([good]) }
    refusalOf(await context.client.send(sent), 401, 'invalid_api_key')
    refusalOf(await context.get(batchPath), 405, 'method_not_allowed')
  },
})
