/**
 * Compressed bodies: read like plain ones, within the same limits, on both transports.
 */
import t from 'tap'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import type { DecideRequest } from '../../src/decide/types.js'
import {
  compressors,
  largestWindow,
  zstdBomb,
  zstdRequest,
  zstdStored,
} from '../helpers/compressed.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { decision, stubDecider, type StubServer, withServer } from '../helpers/stub.js'

const single = '/v1/systemone'
const batch = '/v1/systemone/batch'
const asking = (state: string) =>
  `{"state":${JSON.stringify(state)},"questions":{"q":{"type":"noul","instructions":"?"}}}`
/** Short bodies are inflated at once, long ones are not: noise, so that they stay long. */
const short = 'I was charged twice. '.repeat(60)
const long = Array.from({ length: 40_000 }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 7).join(' ')

const spaces = Buffer.alloc(2 ** 23, ' ')
const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
/** Bodies far over the limit; all but the last are few bytes. */
const bombs = [
  ['gzip', gzipSync(spaces)],
  ['deflate', deflateSync(spaces)],
  ['br', brotliCompressSync(spaces, quickly)],
  ['zstd', zstdBomb(1024)],
  ['zstd', zstdStored(spaces.subarray(0, 5_000_000))],
] as const

/** A server that reports the last state it was asked about. */
async function withListening(
  transport: 'auto' | 'node',
  use: (server: StubServer, states: string[]) => Promise<void>,
): Promise<void> {
  const states: string[] = []
  const decider = stubDecider(async ({ state }: DecideRequest) => {
    states.push(state as string)
    return decision
  })
  await withServer({ decider, transport }, (server) => use(server, states))
}

const post = ({ url, key }: StubServer, path: string, body: Uint8Array, coding: string) =>
  fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-encoding': coding },
    body,
  })

for (const transport of ['auto', 'node'] as const) {
  t.test(`a compressed body is read like the plain one, transport ${transport}`, (t) =>
    withListening(transport, async (server, states) => {
      for (const [what, [coding, compress]] of Object.entries(compressors)) {
        for (const state of [short, long]) {
          const body = asking(state)
          const one = await post(server, single, compress(Buffer.from(body)), coding)
          t.equal(one.status, 200, `${what}: ${await one.text()}`)
          t.equal(states.pop(), state, what)
          const many = Buffer.from(`{"requests":[${body},${body}]}`)
          const reply = await post(server, batch, compress(many), coding)
          t.equal(reply.status, 200, `${what}, a batch: ${await reply.text()}`)
          t.strictSame(states.splice(0), [state, state])
        }
      }
      const reply = await post(server, single, zstdRequest, 'zstd')
      t.equal(reply.status, 200, await reply.text())
      t.match(states.pop(), /^I was charged twice for the same order.*nobody answers my mails\.$/)
      t.equal(server.handlers.bodies.heldBytes, 0)
    }),
  )

  t.test(`a body over the limit after decompression is 413, transport ${transport}`, (t) =>
    withListening(transport, async (server) => {
      for (const [coding, bomb] of bombs) {
        const reply = await post(server, single, bomb, coding)
        t.equal(reply.status, 413, coding)
        t.match(await reply.json(), { error: { message: /limit of 4194304 bytes/ } })
        const again = await post(server, single, gzipSync(asking(short)), 'gzip')
        t.equal(again.status, 200)
      }
      t.equal(server.handlers.bodies.heldBytes, 0)
    }),
  )
}

t.test('a Brotli copy reaches back through the longest body', (t) =>
  withListening('auto', async (server, states) => {
    const copied = long.slice(0, 65_536)
    const most = 4_194_304 - asking('').length - 2 * copied.length
    const state = copied + ' '.repeat(most) + copied
    const { params } = largestWindow
    const quick = { params: { ...params, [constants.BROTLI_PARAM_QUALITY]: 9 } }
    const body = brotliCompressSync(asking(state), quick)
    t.ok(body.length < brotliCompressSync(copied, quick).length + 2000, 'it stands there once')
    const reply = await post(server, single, body, 'br')
    t.equal(reply.status, 200, await reply.text())
    t.ok(states.pop() === state)
  }),
)

t.test('damaged data are refused', (t) =>
  withListening('auto', async (server, states) => {
    for (const state of [short, long]) {
      for (const [what, [coding, compress]] of Object.entries(compressors)) {
        const whole = compress(Buffer.from(asking(state)))
        const spoiled = Buffer.from(whole)
        spoiled[0]! ^= 0xff
        for (const [how, bytes] of [
          ['cut', whole.subarray(0, -3)],
          ['longer', Buffer.concat([whole, Buffer.from('more of it')])],
          ['another beginning', spoiled],
          ['plain', Buffer.from(asking(state))],
        ] as const) {
          const reply = await post(server, single, bytes, coding)
          const { error } = (await reply.json()) as { error: { code: string; message: string } }
          t.equal(reply.status, 400, `${what}, ${how}: ${error?.message}`)
          t.equal(error.code, 'invalid_request')
        }
      }
    }
    t.strictSame(states, [])
    t.equal(server.handlers.bodies.heldBytes, 0)
  }),
)

t.test('a zstd frame that wants much memory, or a dictionary, is refused', (t) =>
  withListening('auto', async (server) => {
    for (const [head, message] of [
      // 16 MiB and 2 GiB.
      ['28b52ffd0070', /window of more than 8388608 bytes/],
      ['28b52ffd00a8', /window of more than 8388608 bytes/],
      ['28b52ffd015001', /dictionary/],
    ] as const) {
      const frame = Buffer.concat([Buffer.from(head, 'hex'), Buffer.from([9, 0, 0, 32])])
      const reply = await post(server, single, frame, 'zstd')
      t.equal(reply.status, 400)
      t.match(await reply.json(), { error: { message } })
    }
  }),
)

t.test('the key is checked first, and then the content coding', (t) =>
  withListening('auto', async (server, states) => {
    const bomb = gzipSync(Buffer.alloc(2 ** 26))
    t.equal((await post({ ...server, key: 'oi-wrong' }, single, bomb, 'gzip')).status, 401)
    t.equal((await post({ ...server, key: 'oi-wrong' }, single, bomb, 'x')).status, 401)
    for (const coding of ['x', 'compress', 'gzip, gzip', 'gzip, identity', 'x-zstd', 'none']) {
      for (const path of [single, batch]) {
        const reply = await post(server, path, gzipSync(asking(short)), coding)
        t.equal(reply.status, 415, coding)
        t.equal(reply.headers.get('accept-encoding'), 'gzip, deflate, br, zstd')
      }
    }
    t.equal((await post(server, single, Buffer.from(asking(short)), 'Identity')).status, 200)
    t.strictSame(states, [short])

    using client = await RawClient.connect(server.port)
    const head = request('POST', single, { authorization: `Bearer ${server.key}` })
    const twice = 'Content-Encoding: gzip\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n'
    client.send(head.slice(0, -2) + twice)
    t.equal((await client.reply()).status, 415, 'in two lines')
  }),
)

t.test('the limit of all bodies together counts decompressed bytes', (t) =>
  withServer({ maxBodiesBytes: 1_000_000 }, async (server) => {
    const held = server.handlers.bodies
    held.take(900_000)
    const body = gzipSync(asking('x'.repeat(300_000)))
    t.equal((await post(server, single, body, 'gzip')).status, 503)
    held.giveBack(900_000)
    t.equal((await post(server, single, body, 'gzip')).status, 200)
    t.equal(held.heldBytes, 0)
  }),
)
