/**
 * Servers with one fault each, for the conformance suite to find.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { entriesOf, objectFromEntries, parseJson, stringifyJson } from '../../src/api/json.js'
import type { Json, JsonObject } from '../../src/api/json.js'
import type { Fault, PassedReply, PassedRequest } from './faulty-proxy.js'

/** Changes the body of a reply that is a JSON object. */
const change = (act: (body: JsonObject) => void) => (reply: PassedReply) => {
  if (reply.headers['content-type'] !== 'application/json' || reply.text === '') return
  const body = parseJson(reply.text) as JsonObject
  act(body)
  reply.text = stringifyJson(body)
}

/** Changes each answer of a reply. */
const changeAnswers = (act: (answer: JsonObject) => void) =>
  change(({ answers }) => {
    for (const [, answer] of entriesOf((answers ?? {}) as JsonObject)) act(answer as JsonObject)
  })

/** Changes the limits of each model's card. */
const changeLimits = (act: (limits: Record<string, number>) => void) =>
  change(({ models }) => {
    if (!Array.isArray(models)) return
    for (const model of models) act((model as JsonObject)['limits'] as Record<string, number>)
  })

/** Moves an answer by so much, and keeps it one. */
function move(answer: JsonObject, by: number): void {
  if (typeof answer['noul'] === 'number') answer['noul'] = Math.abs(answer['noul'] - by)
  const { probabilities } = answer
  if (probabilities === undefined) return
  const entries = entriesOf(probabilities as JsonObject)
  const to = entries.length - 1
  answer['probabilities'] = objectFromEntries(
    entries.map(([name, value], i) => {
      return [name, Number(value) * (1 - by) + (i === to ? by : 0)] as const
    }),
  )
}

/** Calls this with each answer of a reply to a single request, and its place. */
const moveAnswers = (by: (place: number, count: number, body: Buffer) => number) => {
  return (reply: PassedReply, request: PassedRequest) =>
    change(({ answers }) => {
      const all = entriesOf((answers ?? {}) as JsonObject)
      all.forEach(([, answer], i) => move(answer as JsonObject, by(i, all.length, request.body)))
    })(reply)
}

const round = (value: Json) => Math.round(Number(value) * 1e4) / 1e4

/** What a server does wrong -> the rules that it breaks, all of them. */
export const faults: Readonly<Record<string, Fault & { readonly fails: readonly string[] }>> = {
  'drops x-request-id': {
    reply: ({ headers }) => delete headers['x-request-id'],
    fails: [
      '2.6 every error has the id of its request',
      "5 x-request-id: the caller's own comes back",
      '5 x-request-id: an omitted one is made',
      'decisions/Headers x-request-id: one that does not fit is replaced, not refused',
      'decisions/Headers x-typesafe-request-id repeats the id on every response',
    ],
  },
  'has no total in server-timing': {
    reply: ({ headers }) => {
      headers['server-timing'] = headers['server-timing']!.replace(/, total.*/, '')
    },
    fails: [
      'decisions/Headers server-timing names queue, tokenize, vision, model and total on every response',
    ],
  },
  'sends answers in another order': {
    reply: change((body) => {
      const answers = entriesOf((body['answers'] ?? {}) as JsonObject)
      if (answers.length > 0) body['answers'] = objectFromEntries(answers.reverse())
    }),
    fails: [
      'decisions/Requests order: answers keep that of the questions, integer-like names included',
    ],
  },
  'answers although a name stands twice': {
    reply: (reply) => {
      if (!reply.text.includes('each name once')) return
      reply.status = 200
      reply.text = '{"model":"fake","answers":{},"usage":{},"latency_ms":0}'
    },
    fails: [
      'decisions/Requests a name that stands twice in questions is refused with 422',
      'decisions/Requests a name that stands twice in criteria is refused with 422',
    ],
  },
  'is less sure of a choice than it should be': {
    reply: changeAnswers((answer) => {
      if (answer['type'] === 'choice') answer['confidence'] = Number(answer['confidence']) * 0.99
    }),
    fails: [
      'decisions/Requests one option has probability 1 and confidence 1',
      'decisions/Responses confidence of a choice follows its formula',
    ],
  },
  'gives the likeliest level as the score': {
    reply: changeAnswers((answer) => {
      if (answer['type'] === 'score') answer['score'] = Math.round(Number(answer['score']))
    }),
    fails: ['decisions/Responses score is the expected level'],
  },
  'rounds probabilities': {
    reply: changeAnswers((answer) => {
      const { probabilities } = answer
      if (probabilities === undefined) return
      const rounded = entriesOf(probabilities as JsonObject).map(
        ([name, value]) => [name, round(value)] as const,
      )
      answer['probabilities'] = objectFromEntries(rounded)
    }),
    fails: [
      'decisions/Responses probabilities sum to 1 within 1e-9',
      'decisions/Responses probabilities are not rounded',
      'decisions/Responses score is the expected level',
      'decisions/Responses confidence of a choice follows its formula',
      'decisions/Responses confidence of a score follows its formula',
    ],
  },
  'subtracts cached tokens': {
    reply: change(({ usage }) => {
      const counts = usage as Record<string, number> | undefined
      // The list of GET /v1/usage is left alone.
      if (counts && !Array.isArray(counts)) counts['input_tokens']! -= counts['cached_tokens']!
    }),
    fails: [
      'decisions/Responses usage: cached tokens are counted inside input tokens, never subtracted',
      'decisions/Batch usage has the totals of the items, and there is a latency_ms',
      'decisions/Keys, workspaces, limits, money an answered request is booked once: requests and tokens',
    ],
  },
  'measures latency in another way': {
    reply: change((body) => {
      if ('latency_ms' in body) body['latency_ms'] = Number(body['latency_ms']) + 1
    }),
    fails: ['decisions/Responses latency_ms equals model in server-timing'],
  },
  'says more than the body has': {
    reply: change((body) => {
      if ('answers' in body) body['id'] = 'x'
    }),
    fails: ['2.4 the body has model, answers, usage and latency_ms, and nothing else'],
  },
  'has another text in detail': {
    reply: change((body) => {
      if ('detail' in body) body['detail'] = 'failed'
    }),
    fails: ['2.6 detail repeats error.message'],
  },
  'takes every content type': {
    request: ({ headers }) => {
      headers['content-type'] = 'application/json'
    },
    fails: [
      '2.6 every error has error.code, error.message and detail, of every route',
      '2.6 detail repeats error.message',
      '5 Content-Type: anything else is refused with 400',
    ],
  },
  'says 403 for 401': {
    reply: (reply) => {
      if (reply.status === 401) reply.status = 403
    },
    fails: [
      'decisions/Errors 401 invalid_api_key: always for a wrong key, also after many, and a right one is taken',
      '5 a missing, wrong or malformed key gets 401 invalid_api_key',
      '5 the message of 401 says to send Authorization: Bearer <key>',
      '5 the key is looked at before the body',
      'decisions/Batch without a key it is 401, and another method 405',
      'decisions/Keys, workspaces, limits, money GET /v1/usage without a key is 401',
    ],
  },
  'says nothing of the methods that a route takes': {
    reply: ({ headers }) => delete headers['allow'],
    fails: ['decisions/Errors 405 method_not_allowed: a wrong method, with allow'],
  },
  'does not know evidence': {
    request: ({ headers }) => delete headers['x-oi-evidence'],
    fails: [
      'decisions/Evidence with x-oi-evidence: 1 each answer has label_mass, logits and temperature',
      'decisions/Evidence with averaged orders there is order_spread, and else not',
    ],
  },
  'does not know averaged orders': {
    request: ({ headers }) => delete headers['x-oi-orders'],
    fails: [
      'decisions/Evidence with averaged orders there is order_spread, and else not',
      'decisions/Evidence x-oi-orders: 2: reversed options have the same answer',
      'decisions/Evidence x-oi-orders: all: rotated options have the same answer',
      'decisions/Evidence x-oi-orders: other than 1, 2 and all is refused with 400',
    ],
  },
  'has rate limits in the headers of answers only': {
    reply: ({ status, headers }) => {
      if (status === 200) return
      for (const name of Object.keys(headers)) {
        if (name.startsWith('x-ratelimit-')) delete headers[name]
      }
    },
    fails: [
      'decisions/Headers x-ratelimit-*: on every authenticated response, or on none of an unlimited workspace',
    ],
  },
  'lists models in one way only': {
    reply: change((body) => {
      delete body['data']
    }),
    fails: ['decisions/Models object is list, and data names the same models'],
  },
  'says something else in its metrics': {
    reply: (reply, { path }) => {
      if (path === '/metrics') reply.text += 'oops\n'
    },
    fails: ["decisions/Not in /v1 GET /metrics gives Prometheus' text without a key"],
  },
  'lets a question move the answers beside it': {
    reply: moveAnswers((_, count) => 0.02 * Math.min(4, count - 1)),
    fails: [
      'decisions/Responses an answer does not hang on the questions beside it',
      'decisions/Responses an answer from a cache is the same',
    ],
  },
  'favours the first question': {
    reply: moveAnswers((place, count) => (place === 0 && count > 1 ? 0.05 : 0)),
    fails: [
      'decisions/Responses an answer does not hang on its place among the questions',
      'decisions/Responses one question asked several times has one answer',
      'decisions/Responses an answer from a cache is the same',
    ],
  },
  'answers otherwise from its cache': {
    reply: moveAnswers(seenBefore(0.05)),
    fails: ['decisions/Responses an answer from a cache is the same'],
  },
  'takes an empty description for one': {
    request: (request) => {
      request.body = Buffer.from(
        request.body.toString('latin1').replaceAll(':""', ':"-"'),
        'latin1',
      )
    },
    fails: ['2.2 criteria of choice: null and "" mean by its name alone'],
  },
  'understates the items of a batch': {
    reply: changeLimits((limits) => (limits['max_batch'] = 200)),
    fails: [
      'decisions/Models max_batch: more items are refused with 400, of requests and of states',
    ],
  },
  'overstates the items of a batch': {
    reply: changeLimits((limits) => (limits['max_batch'] = 300)),
    fails: [
      'decisions/Batch as many items as the model takes are answered',
      'decisions/Models max_batch: more items are refused with 400, of requests and of states',
      'decisions/Models max_reply_bytes: what would be a longer reply is refused with 400, before any work',
      'decisions/Keys, workspaces, limits, money a batch of more items than the workspace has places is answered',
    ],
  },
  'understates the questions of a request': {
    reply: changeLimits((limits) => (limits['max_questions'] = 100)),
    fails: ['8 more questions are refused with 400'],
  },
  'overstates the length of a state': {
    reply: changeLimits((limits) => (limits['max_state_tokens']! *= 2)),
    fails: [
      'decisions/Errors a state that is too long is refused with its token count and the limit',
      'decisions/Models max_state_tokens: a state of nine tenths is answered',
    ],
  },
  'says no limit of a reply': {
    reply: changeLimits((limits) => delete limits['max_reply_bytes']),
    fails: [
      'decisions/Models limits are whole numbers',
      'decisions/Models max_reply_bytes: what would be a longer reply is refused with 400, before any work',
    ],
  },
  'understates what a body may have': {
    reply: changeLimits((limits) => (limits['max_body_bytes'] = 2 ** 20)),
    fails: [
      'decisions/Errors 413 is seen by a client that sends everything before it reads',
      'decisions/Models max_body_bytes: a body of so many bytes is read, and one more byte is 413',
    ],
  },
  'understates the options of a request': {
    reply: changeLimits((limits) => (limits['max_options_per_request'] = 4096)),
    fails: [
      'decisions/Models max_options_per_request: more options of all questions together are refused with 400',
    ],
  },
  'lets every page in by its name': {
    reply: ({ headers }, request) => {
      const { origin } = request.headers
      if (origin !== undefined) headers['access-control-allow-origin'] = origin
    },
    fails: [
      'decisions/Headers CORS: an origin that is not let in is not named, and cookies are allowed to nobody',
    ],
  },
  'lets pages send what it thought of': {
    reply: ({ headers }) => {
      if (!headers['access-control-allow-headers']) return
      headers['access-control-allow-headers'] = 'authorization, content-type, x-request-id'
    },
    fails: [
      'decisions/Headers CORS: a page that is let in may send POST and every header that it asks for',
    ],
  },
  'refuses preflights of unknown paths': {
    reply: (reply, { method, path }) => {
      if (method === 'OPTIONS' && path.includes('no-such-route')) reply.status = 404
    },
    fails: [
      'decisions/Headers CORS: the preflight of an unknown path succeeds, and the call itself is 404',
    ],
  },
  'hides its errors from pages': {
    reply: ({ status, headers }) => {
      if (status >= 400) delete headers['access-control-allow-origin']
    },
    fails: [
      'decisions/Headers CORS: the preflight of an unknown path succeeds, and the call itself is 404',
      'decisions/Headers CORS: every reply to it can be read, errors included, and its headers',
    ],
  },
  'says 429 after many wrong keys': {
    reply: afterMany(401, 60, (reply) => {
      reply.status = 429
      reply.text = reply.text.replace('invalid_api_key', 'rate_limit_exceeded')
    }),
    fails: [
      'decisions/Errors 401 invalid_api_key: always for a wrong key, also after many, and a right one is taken',
    ],
  },
  'lets few requests in at once': {
    ...atOnce(10),
    fails: [
      'decisions/Keys, workspaces, limits, money three hundred requests at once are answered',
    ],
  },
  'counts the items of a batch against the places at once': {
    reply: (reply, { path, headers }) => {
      const places = Number(reply.headers['x-ratelimit-limit-concurrent'])
      if (!path.endsWith('/batch') || places !== 2 || headers['accept']) return
      change(({ results }) => {
        for (const item of (results as JsonObject[] | undefined)?.slice(places) ?? []) {
          item['status'] = 429
        }
      })(reply)
    },
    fails: [
      'decisions/Keys, workspaces, limits, money a batch of more items than the workspace has places is answered',
    ],
  },
  'sends empty lines in a stream': {
    reply: (reply) => {
      if (reply.headers['content-type'] === 'application/x-ndjson') {
        reply.text = `\n${reply.text.replaceAll('\n', '\n\n')}`
      }
    },
    fails: [],
  },
  'does not know HTTP/1.0': {
    reply: (reply, { version }) => {
      if (version === '1.0') reply.status = 505
    },
    fails: ['4 HTTP/1.0 is answered'],
  },
  'answers what is not HTTP with a page': {
    unreadable: 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n<h1>Bad Request</h1>',
    fails: ['decisions/Errors what is not HTTP gets an error of the usual shape'],
  },
  'reads no encoding and does not say so': {
    reply: (reply) => {
      if (reply.status === 415) reply.status = 422
    },
    fails: ['decisions/Errors 415: a Content-Encoding that is not read, with accept-encoding'],
  },
  'knows its routes in one form only': {
    reply: (reply) => {
      if (reply.status === 404) reply.text = reply.text.replaceAll('/v1/', '')
    },
    fails: [
      '4 slashes too many, and /v1 twice: answered, or 404 with the route that was meant',
      '4 routes of other interfaces are 404 with a route of this one',
    ],
  },
  'cuts off a client that sends too much': {
    cutsOff: (headers) => Number(headers['content-length']) > 5 * 2 ** 20,
    fails: ['decisions/Errors 413 is seen by a client that sends everything before it reads'],
  },
}

/** The same for a server whose model sees, of the rules about images. */
export const imageFaults: typeof faults = {
  'ignores max_pixels': {
    request: (request) => {
      const text = request.body.toString('latin1').replace(/,"max_pixels":4096\b/, '')
      request.body = Buffer.from(text, 'latin1')
    },
    fails: ['2.3 max_pixels: a larger picture is scaled down to so many'],
  },
  'understates the images of a request': {
    reply: changeLimits((limits) => (limits['max_images'] = 7)),
    fails: ['decisions/Images max_images: so many images are seen, and more are refused with 400'],
  },
}

/** A shorter body is not worth keeping. */
const longEnough = 500

/** By how much a request is moved that was sent before. */
function seenBefore(by: number): (place: number, count: number, body: Buffer) => number {
  const seen = new Map<string, number>()
  return (place, _, body) => {
    const key = body.toString('latin1')
    // Counted at its first answer.
    const count = (seen.get(key) ?? 0) + (place === 0 ? 1 : 0)
    seen.set(key, count)
    return count > 1 && key.length > longEnough ? by : 0
  }
}

/** Changes replies of a status, once there have been so many. */
function afterMany(
  status: number,
  most: number,
  act: (reply: PassedReply) => void,
): NonNullable<Fault['reply']> {
  let count = 0
  return (reply) => {
    if (reply.status === status && ++count > most) act(reply)
  }
}

/** Refuses what is more than so many requests under way. */
function atOnce(most: number): Fault {
  let running = 0
  const refused = new WeakSet<PassedRequest>()
  return {
    request: async (request) => {
      if (request.method !== 'POST') return
      if (++running > most) refused.add(request)
      // As long as a model takes: else one is answered before the next has come.
      await sleep(5)
    },
    reply: (reply, request) => {
      if (request.method === 'POST') running--
      if (refused.has(request)) reply.status = 429
    },
  }
}
