/**
 * The limits of `GET /v1/models` are the server's real ones: neither more nor less.
 *
 * @module
 */

import {
  asking,
  choice,
  good,
  many,
  names,
  requests,
  states,
  withState,
} from '../../../test/helpers/request-text.js'
import { batchPath, type Context, decidePath, refusalOf } from '../context.js'
import { equal, saysNumbers, skip, whole } from '../expect.js'
import { section } from '../rule.js'

async function limitOf(context: Context, name: string): Promise<number> {
  const value = (await context.card()).limits[name]
  whole(`limits.${name}`, value, 1)
  return value
}

/** A body of exactly this many bytes, which is answered if it is read. */
function bodyOf(bytes: number): string {
  // White space between values belongs to none of them.
  return good.slice(0, -1) + ' '.repeat(bytes - Buffer.byteLength(good)) + '}'
}

export const limitRules = section('decisions/Models', {
  'max_batch: more items are refused with 400, of requests and of states': async (context) => {
    const limit = await limitOf(context, 'max_batch')
    for (const body of [requests(many(limit + 1, good)), states(many(limit + 1, '"s"'))]) {
      const reply = await context.post(body, {}, batchPath)
      saysNumbers(refusalOf(reply, 400, 'invalid_request').message, limit)
    }
  },
  'max_body_bytes: a body of so many bytes is read, and one more byte is 413': async (context) => {
    const limit = await limitOf(context, 'max_body_bytes')
    equal('status of a body at the limit', (await context.post(bodyOf(limit))).status, 200)
    refusalOf(await context.post(bodyOf(limit + 1)), 413, 'payload_too_large')
  },
  'max_options_per_request: more options of all questions together are refused with 400': async (
    context,
  ) => {
    const limit = await limitOf(context, 'max_options_per_request')
    const { max_options: most = 1, max_questions: questions = 1 } = (await context.card()).limits
    const count = Math.ceil((limit + 1) / most)
    if (count > questions) skip('no request has so many options')
    const one = `{"type":"choice","criteria":${names(most, 'null')}}`
    const { message } = await context.refuse(asking(names(count, one)), 400, 'questions')
    saysNumbers(message, limit)
  },
  'max_reply_bytes: what would be a longer reply is refused with 400, before any work': async (
    context,
  ) => {
    const limit = await limitOf(context, 'max_reply_bytes')
    const items = await limitOf(context, 'max_batch')
    // The name is returned with each item.
    const name = 'n'.repeat(Math.ceil(limit / items))
    if (name.length > 4 * 2 ** 20) skip('no body has so long a name')
    const body = states(many(items, '"s"'), name)
    for (const accept of ['application/json', 'application/x-ndjson']) {
      const reply = await context.post(body, { accept }, batchPath)
      saysNumbers(refusalOf(reply, 400, 'invalid_request').message, limit)
    }
  },
  'max_state_tokens: a state of nine tenths is answered': async (context) => {
    const limit = Math.min(20_000, await limitOf(context, 'max_state_tokens'))
    const word = 'rain '
    const tokens = async (count: number) => {
      const { usage } = await context.answer(withState(JSON.stringify(word.repeat(count))))
      return usage['input_tokens']!
    }
    const each = ((await tokens(200)) - (await tokens(100))) / 100
    const around = (await tokens(100)) - 100 * each
    await tokens(Math.floor((0.9 * limit - around) / each))
  },
  'max_options: options of a few words are answered together': async (context) => {
    const { max_options: most = 1 } = (await context.card()).limits
    const words = (i: number) => `option ${i} of a few words`
    const listed = Array.from({ length: most }, (_, i) => `"${words(i)}":null`).join()
    const { probabilities } = await context.answerOne(choice(`{${listed}}`))
    equal('options', Object.keys(probabilities ?? {}).length, most)
  },
})

export const placeRules = section('decisions/Keys, workspaces, limits, money', {
  'three hundred requests at once are answered': async (context) => {
    const { headers } = await context.get('/v1/models')
    const left = Number(headers['x-ratelimit-remaining-requests'] ?? Infinity)
    if (left < 300) skip(`the workspace has ${left} requests left in this minute`)
    const sent = {
      ...{ path: decidePath, body: good, wide: true, impatient: true },
      headers: { ...context.bearer, 'content-type': 'application/json' },
    }
    const replies = await Promise.all(Array.from({ length: 300 }, () => context.client.send(sent)))
    const statuses = replies.map(({ status, text }) => (status === 200 ? '200' : text.slice(0, 80)))
    equal('different replies', [...new Set(statuses)], ['200'])
  },
  'a batch of more items than the workspace has places is answered': async (context) => {
    const { narrow } = context.keys
    if (narrow === undefined) skip('needs a key of a workspace of few places: --narrow-key')
    const headers = { authorization: `Bearer ${narrow}`, 'content-type': 'application/json' }
    const items = await limitOf(context, 'max_batch')
    const body = requests(many(items, good))
    const reply = await context.client.send({ path: batchPath, headers, body })
    const places = Number(reply.headers['x-ratelimit-limit-concurrent'])
    if (!(places < items)) skip(`the workspace of --narrow-key has ${places} places`)
    equal('status', reply.status, 200)
    const { results } = JSON.parse(reply.text) as { results: { status: number }[] }
    equal('different statuses', [...new Set(results.map(({ status }) => status))], [200])
  },
})

/** The last of all rules: a server may slow down an address from which many wrong keys come. */
export const wrongKeyRules = section('decisions/Errors', {
  '401 invalid_api_key: always for a wrong key, also after many, and a right one is taken': async (
    context,
  ) => {
    const wrong = (i: number) => `Bearer oi-${String(i).padStart(43, '0')}`
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        context.client.send({
          ...{ path: '/v1/models', wide: true, impatient: true },
          headers: { authorization: wrong(i) },
        }),
      ),
    )
    for (const reply of replies) {
      refusalOf(reply, 401, 'invalid_api_key')
      const seconds = reply.headers['retry-after']
      if (seconds !== undefined) whole('retry-after', Number(seconds), 1)
    }
    equal('status with a right key', (await context.get('/v1/models')).status, 200)
  },
})
