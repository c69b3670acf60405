/**
 * HTTP from proxies, from simple clients, and with typing errors.
 *
 * @module
 */

import { bombs, compressors } from '../../../test/helpers/compressed.js'
import { choice, good } from '../../../test/helpers/request-text.js'
import type { Reply } from '../client.js'
import { bodyOf, type Context, decidePath, refusalOf } from '../context.js'
import { about, check, each, equal, object, show, text } from '../expect.js'
import { section } from '../rule.js'

/** Spellings of a route, and the route itself. */
const slashForms: readonly (readonly [path: string, meant: string])[] = [
  ['/v1/systemone/', '/v1/systemone'],
  ['//v1/systemone', '/v1/systemone'],
  ['/v1/v1/systemone', '/v1/systemone'],
  ['/v1/models/', '/v1/models'],
]

/** Routes of other interfaces, which people try first. */
const otherRoutes = ['/v1/chat/completions', '/v1/completions', '/v1/embeddings']

/** Unreadable bytes; the connection may be closed after the reply. */
const unreadable: Readonly<Record<string, string>> = {
  'no request line': '\u0001\u0002\r\n\r\n',
  'a request line of one word': 'hello\r\n\r\n',
  'an unknown version': 'GET /healthz HTTP/9.9\r\nhost: a\r\n\r\n',
  'a field without a colon': 'GET /healthz HTTP/1.1\r\nhost: a\r\nnonsense\r\n\r\n',
  'a head of 256 KiB': `GET /healthz HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(2 ** 18)}\r\n\r\n`,
}

const unknownEncodings = ['x-unknown', 'gzip, gzip', 'compress']

function requireAnswer(status: number, body: Record<string, unknown>): void {
  equal('status', status, 200)
  object('answers', body['answers'])
}

async function requireMeant(context: Context, path: string, meant: string): Promise<void> {
  const isPost = meant === decidePath
  const reply = isPost ? await context.post(good, {}, path) : await context.get(path)
  if (reply.status !== 200) refusalOf(reply, 404, 'not_found', meant)
}

/** `Accept-Encoding` -> the codings that the reply may have. */
const accepted: readonly (readonly [accepts: string, codings: readonly string[]])[] = [
  ['gzip', ['gzip']],
  ['br', ['br']],
  ['zstd', ['zstd']],
  ['gzip;q=0.5, br;q=0', ['gzip']],
  ['gzip;q=0, br', ['br']],
  ['identity', []],
  ['gzip;q=0', []],
]

/** A body with a reply of some kilobytes. */
const lengthy = choice(
  `{${Array.from({ length: 150 }, (_, i) => `"one of many options, ${i}":null`).join()}}`,
)

/** The parts of a reply that depend on its request, not on time. */
function namesIn(reply: Reply): string {
  const { answers } = bodyOf(reply)
  return show(Object.values(answers as object).map((answer: object) => Object.keys(answer)))
}

export const transportRules = [
  ...section('decisions/Headers', {
    'a reply is compressed only as it is asked for, says so to caches, and holds the same': async (
      context,
    ) => {
      const plain = await context.post(lengthy)
      equal('status', plain.status, 200)
      equal('content-encoding, unasked', plain.headers['content-encoding'], undefined)
      for (const [accepts, codings] of accepted) {
        await about(accepts, async () => {
          const reply = await context.post(lengthy, { 'accept-encoding': accepts })
          equal('status', reply.status, 200)
          equal('names', namesIn(reply), namesIn(plain))
          const { 'content-encoding': coding, vary } = reply.headers
          if (coding === undefined) return
          check(codings.includes(coding), `content-encoding: ${coding}`)
          text('vary', vary, /\baccept-encoding\b/i)
        })
      }
    },
    'a long reply is compressed for who asks for it': async (context) => {
      const reply = await context.post(lengthy, { 'accept-encoding': 'gzip' })
      equal('content-encoding', reply.headers['content-encoding'], 'gzip')
    },
    'traceparent: a well-formed one comes back with its trace, another one does not': async (
      context,
    ) => {
      const trace = '0af7651916cd43dd8448eb211c80319c'
      const sent = `00-${trace}-b7ad6b7169203331-00`
      const { reply } = await context.answer(good, { traceparent: sent })
      text('traceparent', reply.headers['traceparent'], new RegExp(`^00-${trace}-[\\da-f]{16}-00$`))
      for (const wrong of [
        '00-1-2-00',
        sent.toUpperCase(),
        `00-${'0'.repeat(32)}-b7ad6b7169203331-00`,
      ]) {
        await about(wrong, async () => {
          const { reply: other } = await context.answer(good, { traceparent: wrong })
          check(!(other.headers['traceparent'] ?? '').includes(wrong), `it came back as it is`)
        })
      }
    },
    'headers of other interfaces change nothing: TypeSafe-Danger-Zone-*, OpenAI-Beta': async (
      context,
    ) => {
      const others = { 'typesafe-danger-zone-images': 'true', 'openai-beta': 'decisions=v1' }
      const [plain, other] = [await context.answer(good), await context.answer(good, others)]
      equal('answers', Object.keys(other.answers), Object.keys(plain.answers))
      equal('input_tokens', other.usage['input_tokens'], plain.usage['input_tokens'])
    },
  }),
  ...section('4', {
    'HEAD is answered where GET is, as that and without a body': async (context) => {
      const paths = ['/healthz', '/readyz', '/openapi.json', '/v1/models', '/v1/usage']
      await each(paths, async (path) => {
        const get = await context.get(path)
        const head = await context.client.send({ method: 'HEAD', path, headers: context.bearer })
        equal('status', head.status, get.status)
        equal('content-type', head.headers['content-type'], get.headers['content-type'])
        equal('body', head.text, '')
      })
    },
    'HTTP/1.0 is answered': async (context) => {
      const { client } = context
      const get = await client.raw(`GET ${client.target('/healthz')} HTTP/1.0\r\n\r\n`)
      equal('status of GET /healthz', get.status, 200)
      const post = await client.raw(context.written('POST', decidePath, '', good, '1.0'))
      requireAnswer(post.status, bodyOf(post))
      const coding = post.headers['transfer-encoding']
      equal('transfer-encoding, which HTTP/1.0 has not', coding, undefined)
    },
    'requests on one connection are answered in their order, the early ones too': async (
      context,
    ) => {
      const replies = await context.client.rawAll(
        context.written('GET', '/healthz') +
          context.written('POST', decidePath, '', good) +
          context.written('GET', '/no-such-route', 'connection: close\r\n'),
      )
      const statuses = replies.map(({ status }) => status)
      // A server may close the connection behind an answer, but not before the first.
      check(statuses.length > 0, 'none is answered')
      equal('statuses', statuses, [200, 200, 404].slice(0, statuses.length))
    },
    'a Transfer-Encoding that is unknown gets one reply': async (context) => {
      const head = context.written('POST', decidePath, 'transfer-encoding: other\r\n')
      const replies = await context.client.rawAll(head)
      equal('replies', replies.length, 1)
      check(replies[0]!.status >= 400 && replies[0]!.status < 600, `got ${replies[0]!.status}`)
    },
    'slashes too many, and /v1 twice: answered, or 404 with the route that was meant': async (
      context,
    ) => {
      for (const [path, meant] of slashForms) {
        await about(path, () => requireMeant(context, path, meant))
      }
    },
    'routes of other interfaces are 404 with a route of this one': async (context) => {
      await each(otherRoutes, async (path) => {
        const reply = await context.post('{"model":"a","messages":[]}', {}, path)
        refusalOf(reply, 404, 'not_found', decidePath)
      })
    },
  }),
  ...section('decisions/Errors', {
    'what is not HTTP gets an error of the usual shape': ({ client }) =>
      each(unreadable, async (bytes) => {
        const reply = await client.raw(bytes)
        check(reply.status >= 400 && reply.status < 600, `got status ${reply.status}`)
        const { error, detail } = bodyOf(reply)
        object('error', error)
        text('error.code', error['code'], /^[a-z_]+$/)
        text('error.message', error['message'])
        equal('detail', detail, error['message'])
      }),
    'a body in gzip, deflate, br or zstd is answered as the plain one': async (context) => {
      const plain = await context.answer(good)
      await each(compressors, async ([encoding, compress]) => {
        const headers = { 'content-encoding': encoding }
        const reply = await context.post(compress(Buffer.from(good)), headers)
        equal('status', reply.status, 200)
        equal('answers', Object.keys(bodyOf(reply)['answers'] as object).length, 1)
        const { input_tokens: tokens } = bodyOf(reply)['usage'] as Record<string, unknown>
        equal('input_tokens', tokens, plain.usage['input_tokens'])
      })
    },
    '400: a compressed body that is cut off, or no such data': (context) =>
      each(compressors, async ([encoding, compress]) => {
        const whole = compress(Buffer.from(good))
        for (const body of [whole.subarray(0, -2), Buffer.from(good)]) {
          const reply = await context.post(body, { 'content-encoding': encoding })
          refusalOf(reply, 400, 'invalid_request')
        }
      }),
    '413: a compressed body that comes to more than a body may be': async (context) => {
      const limit = (await context.card()).limits['max_body_bytes'] ?? 4 * 2 ** 20
      for (const [encoding, bomb] of Object.entries(await bombs(Math.ceil(limit / 2 ** 20) + 1))) {
        await about(encoding, async () => {
          const reply = await context.post(bomb, { 'content-encoding': encoding })
          refusalOf(reply, 413, 'payload_too_large')
        })
      }
    },
    '415: a Content-Encoding that is not read, with accept-encoding': (context) =>
      each(unknownEncodings, async (encoding) => {
        const reply = await context.post(good, { 'content-encoding': encoding })
        refusalOf(reply, 415, 'invalid_request')
        text('accept-encoding', reply.headers['accept-encoding'])
      }),
    '413 is seen by a client that sends everything before it reads': async (context) => {
      const { limits } = await context.card()
      const limit = limits['max_body_bytes'] ?? (await context.longestBody())
      const body = 'x'.repeat(limit + 2 ** 21)
      const sent = context.written('POST', decidePath, 'connection: close\r\n', body)
      const reply = await context.client.raw(sent, { writesFirst: true })
      refusalOf(reply, 413, 'payload_too_large')
    },
  }),
]
