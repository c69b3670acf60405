/**
 * Servers with one fault each, which the conformance suite must find.
 */
import { entriesOf, objectFromEntries } from '../../src/api/json.js'
import type { JsonObject } from '../../src/api/json.js'
import { change, changeAnswers, type Faults, round } from './fault-changes.js'
import { limitFaults } from './limit-faults.js'
import { readingFaults } from './reading-faults.js'
import { transportFaults } from './transport-faults.js'

const typeOfErrors = 'decisions/Errors error.type follows from the status, of every route'

type Totals = Record<string, number>

const plainFaults: Faults = {
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
  'calls its errors plain text': {
    reply: ({ status, headers }) => {
      if (status >= 400) headers['content-type'] = 'text/plain'
    },
    fails: ['2.6 every error is application/json'],
  },
  'leaves the last item out of the totals': {
    reply: change(({ results, usage }) => {
      const last = (results as JsonObject[] | undefined)?.at(-1)?.['usage'] as Totals | undefined
      if (last) (usage as Totals)['input_tokens']! -= last['input_tokens']!
    }),
    fails: ['decisions/Batch usage has the totals of the items, and there is a latency_ms'],
  },
  'sorts names as JavaScript does': {
    reply: (reply) => {
      if (reply.text.startsWith('{"model":')) reply.text = JSON.stringify(JSON.parse(reply.text))
    },
    fails: [
      '2.5 legend echoes texts, objects and arrays as sent, other levels as their JSON',
      'decisions/Requests order: answers keep that of the questions, integer-like names included',
      'decisions/Requests order: probabilities keep that of the options, integer-like names included',
    ],
  },
  'says nothing of what it ignores': {
    reply: ({ headers }) => delete headers['x-oi-ignored'],
    fails: [
      'decisions/Requests unknown fields are ignored at every depth, and x-oi-ignored names them',
      'decisions/Requests x-oi-ignored names the first eight, of questions that were asked before too',
    ],
  },
  'names the alias that was asked for': {
    reply: (reply, { body }) => {
      const [, asked] = /"model":"(\w[\w-]*)"/.exec(body.toString('latin1')) ?? []
      if (asked)
        change((answered) => {
          if ('answers' in answered) answered['model'] = asked
        })(reply)
    },
    fails: [
      '2.1 model: each name and alias of GET /v1/models is answered by its model',
      'decisions/Requests model: the default model answers to default, latest, jev-latest and jev-preview',
    ],
  },
  'books everything twice': {
    reply: change((body) => {
      for (const day of Array.isArray(body['usage']) ? body['usage'] : []) {
        const counts = day as Totals
        for (const name of Object.keys(counts)) {
          if (typeof counts[name] === 'number') counts[name] *= 2
        }
      }
    }),
    fails: [
      'decisions/Keys, workspaces, limits, money an answered request is booked once: requests and tokens',
      'decisions/Keys, workspaces, limits, money Idempotency-Key: a repeated request is answered, charged once, and says so',
    ],
  },
  'takes what is nearly JSON': {
    request: (request) => {
      const text = request.body.toString('latin1').replace(/^\/\*.*?\*\//, '')
      request.body = Buffer.from(text, 'latin1')
    },
    fails: ['2.1 body: what is not JSON is refused with 422'],
  },
  'sends answers in another order': {
    reply: change((body) => {
      const answers = entriesOf((body['answers'] ?? {}) as JsonObject)
      if (answers.length > 0) body['answers'] = objectFromEntries(answers.reverse())
    }),
    fails: [
      'decisions/Requests order: answers keep that of the questions, integer-like names included',
      'decisions/Requests names that only look alike are different names, and come back as they were sent',
    ],
  },
  'answers although a name stands twice': {
    reply: (reply) => {
      if (!reply.text.includes('each name once')) return
      reply.status = 200
      reply.text = '{"model":"fake","answers":{},"usage":{},"latency_ms":0}'
    },
    fails: [
      'decisions/Batch a name that stands twice in the envelope or in an item is refused with 422',
      'decisions/Requests a name that stands twice at the root or in a question is refused with 422',
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
    reply: (reply) =>
      change(({ usage }) => {
        const counts = usage as Record<string, number> | undefined
        const cached = Number(reply.headers['x-oi-cached-tokens'] ?? 0)
        // The list of GET /v1/usage is not changed.
        if (counts && !Array.isArray(counts)) counts['input_tokens']! -= cached
      })(reply),
    fails: [
      'decisions/Responses usage: cached tokens are counted inside input tokens, never subtracted',
      'decisions/Responses usage: what was sent is counted once, however many questions and orders read it',
      'decisions/Batch usage has the totals of the items, and there is a latency_ms',
      'decisions/Batch requests: an item is answered as it is alone',
      'decisions/Batch states: an item is answered as it is alone',
      'decisions/Keys, workspaces, limits, money an answered request is booked once: requests and tokens',
      'decisions/Keys, workspaces, limits, money Idempotency-Key: a repeated request is answered, charged once, and says so',
    ],
  },
  'counts a state for each question': {
    reply: (reply, { body }) =>
      change(({ answers, usage }) => {
        const more = Object.keys((answers ?? {}) as JsonObject).length - 1
        if (more > 0) (usage as Totals)['input_tokens']! += more * Math.ceil(body.length / 10)
      })(reply),
    fails: [
      'decisions/Responses usage: what was sent is counted once, however many questions and orders read it',
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
  'has errors without a type': {
    reply: change((body) => {
      if ('error' in body) delete (body['error'] as Record<string, unknown>)['type']
    }),
    fails: [typeOfErrors],
  },
  'takes every content type': {
    request: ({ headers }) => {
      headers['content-type'] = 'application/json'
    },
    fails: [
      '2.6 every error has error.code, error.message and detail, of every route',
      '2.6 detail repeats error.message',
      typeOfErrors,
      '5 Content-Type: anything else is refused with 400',
      'decisions/Images a model without vision refuses every form with 400 at its place',
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
      'decisions/Evidence probabilities follow from logits and temperature',
      'decisions/Evidence label_mass is a share of all that the model could say, not of the labels',
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
  'does not list the names that all servers answer to': {
    reply: change(({ models }) => {
      for (const card of Array.isArray(models) ? (models as JsonObject[]) : []) {
        card['aliases'] = (card['aliases'] as string[]).filter((name) => name === 'alias')
      }
    }),
    fails: [
      'decisions/Models aliases lists every name: of the default model default, latest, jev-latest and jev-preview too',
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
}

export const faults: Faults = {
  ...plainFaults,
  ...readingFaults,
  ...limitFaults,
  ...transportFaults,
}
