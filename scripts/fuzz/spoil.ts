/**
 * Requests whose HTTP is wrong: lengths that are not true, heads that are too long or no heads.
 *
 * @module
 */

import type { Random } from '../../test/helpers/random.js'
import { type Field, headText, type Request } from './heads.js'
import { mutateBytes } from './mutate.js'

const lengths = [
  ...['-1', '+5', '0x10', '1e3', ' 5', '5 5', '5,5', '', 'a', '4294967296', '9'.repeat(30)],
  ...['100000000', '18446744073709551616', '0', '1', '007'],
]
const encodings = [
  ...['chunked', 'gzip, chunked', 'identity', 'Chunked', 'chunked, chunked', 'xchunked'],
]
const chunks = [
  ...['5\r\nab\r\n0\r\n\r\n', 'fffffffffffffffff\r\n', 'zz\r\n', '-1\r\n'],
  ...['5;a=b\r\nabcde\r\n0\r\n\r\n', '0\r\n\r\nGET / HTTP/1.1\r\n\r\n', '5\nabcde\n0\n\n'],
  ...['\r\n\r\n', '5\r\nabcdefgh\r\n0\r\n\r\n'],
  // Right, but seldom seen: zeros before, capitals, white space, trailers, long extensions.
  ...['0005\r\nabcde\r\n000\r\n\r\n', 'A\r\n0123456789\r\n0\r\nx: y\r\n\r\n'],
  ...['5 \r\nabcde\r\n0\r\n\r\n', `5;${'a'.repeat(5000)}\r\nabcde\r\n0\r\n\r\n`],
  ...['5;a="\r\n"\r\nabcde\r\n0\r\n\r\n', '0\r\n'.repeat(50)],
  ...['1\r\na\r\n'.repeat(2000) + '0\r\n\r\n', '5\r\nab', '5\r', '\r\n5\r\nabcde\r\n0\r\n\r\n'],
]
const lines = [
  ...['GET', 'GET /', 'GET / HTTP/1.0', 'GET / HTTP/2.0', 'get /healthz HTTP/1.1', ' / HTTP/1.1'],
  ...['POST  /v1/systemone HTTP/1.1', 'PRI * HTTP/2.0', 'OPTIONS * HTTP/1.1', 'X'.repeat(5000)],
  ...[`GET /${'a'.repeat(20_000)} HTTP/1.1`, 'GET http://a/healthz HTTP/1.1', 'GET /\0 HTTP/1.1'],
  ...['CONNECT a:1 HTTP/1.1', 'GET / HTTP/1.1 x', 'G\u00cbT / HTTP/1.1', 'GET /\u00ff HTTP/1.1'],
]
const fields = [
  ...['no colon', ': no name', 'a : b', ' folded: a', 'a\0b: c', 'a: b\0c', 'a: b\nc: d'],
  '\u00e9: a',
  ...['a: b\rc', 'expect: 100-continue', 'upgrade: websocket\r\nconnection: upgrade', 'host: a, b'],
  ...['content-length: 3\r\ncontent-length: 4', 'transfer-encoding: chunked\r\ncontent-length: 3'],
  ...[`a: ${'b'.repeat(5000)}`, `a: ${'b'.repeat(100_000)}`, 'a: b\r\n'.repeat(300)],
]

type Spoiling = (request: Request, random: Random) => readonly (string | Buffer)[]

const withFields = (request: Request, ...more: Field[]): string =>
  headText({ ...request, fields: [...request.fields, ...more] })

const spoilings: readonly Spoiling[] = [
  (request, random) => [
    withFields(request, ['content-length', random.pick(lengths)]),
    request.body,
  ],
  // Fewer bytes than announced, and more.
  (request, random) => [
    withFields(request, ['content-length', `${request.body.length + 1 + random.integer(1000)}`]),
    request.body,
  ],
  (request, random) => [
    withFields(request, ['content-length', `${random.integer(request.body.length + 1)}`]),
    request.body,
  ],
  (request, random) => [
    withFields(request, ['transfer-encoding', random.pick(encodings)]),
    random.pick(chunks),
  ],
  (request, random) => {
    const head = withFields(request, ['content-length', `${request.body.length}`])
    return [head.replace(/^[^\r]*/, () => random.pick(lines)), request.body]
  },
  (request, random) => {
    const head = withFields(request, ['content-length', `${request.body.length}`])
    return [head.replace('\r\n', () => `\r\n${random.pick(fields)}\r\n`), request.body]
  },
  (request, random) => {
    const head = Buffer.from(withFields(request, ['content-length', '0']), 'latin1')
    return [mutateBytes(head, random, head)]
  },
]

/** What to write instead of this request: one part, or its head and its body. */
export function spoil(request: Request, random: Random): readonly Buffer[] {
  const [first, second] = random
    .pick(spoilings)(request, random)
    .map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))
  if (second === undefined || second.length === 0) return [first!]
  return random.integer(4) === 0 ? [first!, second] : [Buffer.concat([first!, second])]
}
