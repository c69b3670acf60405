/**
 * Faults in replies to pages of other origins, wrong keys and unusual requests.
 */
import type { JsonObject } from '../../src/api/json.js'
import { afterMany, atOnce, change, type Faults } from './fault-changes.js'
import { usualUnreadable } from './faulty-proxy.js'

const onlyAsAsked =
  'decisions/Headers a reply is compressed only as it is asked for, says so to caches, and holds the same'

const ofKeys = 'decisions/Keys, workspaces, limits, money Idempotency-Key: '

export const transportFaults: Faults = {
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
  'charges a repeated request again': {
    request: ({ headers }) => delete headers['idempotency-key'],
    fails: [
      'a repeated request is answered, charged once, and says so',
      'two at the same time are charged once',
      'another body under the same key is 422 idempotency_key_reused',
      'a refused request keeps no key',
    ].map((rule) => `${ofKeys}${rule}`),
  },
  'takes the first of two keys': {
    takesFirstKey: true,
    fails: ['5 two Authorization headers are refused with 400'],
  },
  'drops a request that comes early': {
    dropsEarly: true,
    fails: ['4 requests on one connection are answered in their order, the early ones too'],
  },
  'answers twice what it cannot read': {
    unreadable: usualUnreadable.repeat(2),
    fails: ['4 a Transfer-Encoding that is unknown gets one reply'],
  },
  'sends lines to all who take them': {
    request: ({ headers }) => {
      if (/ndjson/.test(headers['accept'] ?? '')) headers['accept'] = 'application/x-ndjson'
    },
    fails: ['decisions/Batch NDJSON: it is sent to who prefers it, by the weights of Accept'],
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
  'keeps a stream until its end': {
    holdsLines: true,
    fails: ['decisions/Batch NDJSON: a result is sent when it is ready, not with the last of them'],
  },
  'sends empty lines in a stream': {
    reply: (reply) => {
      if (reply.headers['content-type'] === 'application/x-ndjson') {
        reply.text = `\n${reply.text.replaceAll('\n', '\n\n')}`
      }
    },
    fails: [],
  },
  'takes over whatever trace it is told': {
    reply: ({ headers }, request) => {
      const { traceparent } = request.headers
      if (traceparent !== undefined) headers['traceparent'] = traceparent
    },
    fails: [
      'decisions/Headers traceparent: a well-formed one comes back with its trace, another one does not',
    ],
  },
  'takes headers of other interfaces for mistakes': {
    reply: (reply, { headers }) => {
      if (headers['typesafe-danger-zone-images'] !== undefined) reply.status = 400
    },
    fails: [
      'decisions/Headers headers of other interfaces change nothing: TypeSafe-Danger-Zone-*, OpenAI-Beta',
    ],
  },
  'does not know HEAD': {
    reply: (reply, { method }) => {
      if (method === 'HEAD') reply.status = 405
    },
    fails: [
      '4 HEAD is answered where GET is, as that and without a body',
      'decisions/Models GET /v1/models/{id} is one of them, by its name or an alias, with HEAD too; others are 404',
    ],
  },
  'takes criteria of a noul with any names': {
    reply: (reply) => {
      if (reply.text.includes('expected true, false or both')) reply.status = 200
    },
    fails: ['2.2 criteria of noul: neither true nor false is refused with 422'],
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
  'does not say which encodings it reads': {
    reply: (reply) => {
      if (reply.status === 415) reply.status = 422
    },
    fails: ['decisions/Errors 415: a Content-Encoding that is not read, with accept-encoding'],
  },
  'reads no encoding': {
    reply: (reply, { headers }) => {
      if (headers['content-encoding'] && reply.status === 200) reply.status = 415
    },
    fails: ['decisions/Errors a body in gzip, deflate, br or zstd is answered as the plain one'],
  },
  'takes damaged data for a wrong body': {
    reply: (reply, { headers }) => {
      if (headers['content-encoding'] && reply.status === 400) reply.status = 422
    },
    fails: ['decisions/Errors 400: a compressed body that is cut off, or no such data'],
  },
  'bounds compressed bodies by what is sent': {
    reply: (reply, { headers }) => {
      if (headers['content-encoding'] && reply.status === 413) reply.status = 422
    },
    fails: ['decisions/Errors 413: a compressed body that comes to more than a body may be'],
  },
  'never compresses': {
    request: ({ headers }) => delete headers['accept-encoding'],
    fails: ['decisions/Headers a long reply is compressed for who asks for it'],
  },
  'compresses replies that nobody asked to be': {
    reply: ({ headers, text }) => {
      if (text.length > 2000) headers['content-encoding'] = 'gzip'
    },
    fails: [onlyAsAsked],
  },
  'leaves caches to find out that it compresses': {
    reply: ({ headers }) => {
      if (headers['content-encoding']) delete headers['vary']
    },
    fails: [onlyAsAsked],
  },
  'loses what it compresses': {
    reply: (reply) => {
      if (reply.headers['content-encoding']) reply.text = reply.text.replace('confidence', 'lost')
    },
    fails: [onlyAsAsked],
  },
  'knows its routes in one form only': {
    reply: (reply, { path }) => {
      if (/\/\/|.\/$|\/v1\/v1/.test(path)) {
        reply.status = 404
        reply.text =
          '{"error":{"code":"not_found","message":"There is no such route",' +
          '"type":"invalid_request_error"},' +
          '"detail":"There is no such route"}'
      }
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
