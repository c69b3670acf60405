/**
 * What arrives byte by byte, twice, too slowly or too early: both transports answer the same.
 */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { exchange, RawClient, repliesIn, request } from '../helpers/raw-client.js'
import { decision, stubDecider, type StubServer, withServer } from '../helpers/stub.js'

const transports = ['uws', 'node'] as const

const get = (path: string, id = '') => request('GET', path, id === '' ? {} : { 'x-request-id': id })
const post = ({ key }: StubServer, more: Record<string, string> = {}, body = '{}') =>
  request('POST', '/v1/systemone', { authorization: `Bearer ${key}`, ...more }, body)
const raw = (line: string, ...fields: string[]) =>
  `${[line, 'Host: h', ...fields].join('\r\n')}\r\n\r\n`

interface Expected {
  /** Whether the server closes the connection. */
  readonly closes?: boolean
  /** Whether the client sends its end behind the bytes. */
  readonly end?: boolean
  readonly message?: RegExp
  readonly coding?: string
}
const closes: Expected = { closes: true }

/** What is sent, and the statuses of all replies, in order. */
const cases: Readonly<
  Record<string, [bytes: string | ((server: StubServer) => string), number[], Expected?]>
> = {
  'an unknown Transfer-Encoding has one reply': [
    `${raw('POST /v1/systemone HTTP/1.1', 'Transfer-Encoding: gzip')}{}\r\n\r\n`,
    [400],
    closes,
  ],
  'chunked that is not the last coding has one reply': [
    `${raw('POST /v1/systemone HTTP/1.1', 'Transfer-Encoding: chunked, gzip')}0\r\n\r\n`,
    [400],
    closes,
  ],
  'a refused request with a malformed body has one reply, its own': [
    `${raw('POST /v1/systemone HTTP/1.1', 'Transfer-Encoding: chunked')}zz\r\n{}\r\n`,
    [401],
    closes,
  ],
  'lines that end with LF alone': ['GET /healthz HTTP/1.1\nHost: h\n\n', [400], closes],
  'a blank behind the version': [raw('GET /healthz HTTP/1.1 '), [400], closes],
  'a version that is not spoken': [raw('GET /healthz HTTP/2.0'), [505], closes],
  'a method that is none': [raw('FOO /healthz HTTP/1.1'), [400], closes],
  'a known method that the route does not take': [raw('PROPFIND /healthz HTTP/1.1'), [405]],
  'two keys': [
    ({ key }) =>
      raw('GET /v1/models HTTP/1.1', `Authorization: Bearer ${key}`, 'Authorization: Bearer oi-x'),
    [400],
    { ...closes, message: /^Authorization: expected one such header/ },
  ],
  'an early request behind an undecided one is answered behind it': [
    (server) => post(server, { 'x-request-id': 'r0' }) + get('/healthz', 'r1'),
    [200, 200],
  ],
  'early requests behind a reply that is being made': [
    get('/metrics', 'r0') + get('/healthz', 'r1') + get('/none', 'r2'),
    [200, 200, 404],
  ],
  'many early requests with bodies keep their order': [
    (server) =>
      Array.from({ length: 30 }, (_, i) => post(server, { 'x-request-id': `r${i}` })).join(''),
    Array<number>(30).fill(200),
  ],
  'a malformed request behind undecided ones is refused behind them': [
    (server) =>
      `${post(server, { 'x-request-id': 'r0' })}${post(server, { 'x-request-id': 'r1' })}nonsense\r\n\r\n`,
    [200, 200, 400],
    closes,
  ],
  'an early request of HTTP/1.0': [
    (server) => `${post(server, { 'x-request-id': 'r0' })}GET /healthz HTTP/1.0\r\n\r\n`,
    [200, 200],
    closes,
  ],
  'early requests and the end of what the client sends': [
    (server) => post(server, { 'x-request-id': 'r0' }) + get('/healthz', 'r1'),
    [200, 200],
    { ...closes, end: true },
  ],
  'a request of HTTP/1.0 and the end of what the client sends': [
    (server) => post(server, { 'x-request-id': 'r0' }).replace('HTTP/1.1', 'HTTP/1.0'),
    [200],
    { ...closes, end: true },
  ],
  'a header that stands twice is one list': [
    raw('GET /openapi.json HTTP/1.1', 'Accept-Encoding: br;q=0', 'Accept-Encoding: gzip'),
    [200],
    { coding: 'gzip' },
  ],
}

for (const transport of transports) {
  t.test(`${transport}: each case has its replies, in order, and no other`, (t) => {
    const decider = stubDecider(async () => {
      await sleep(30)
      return decision
    })
    return withServer({ transport, decider }, async (server) => {
      for (const [what, [sent, statuses, expected = {}]] of Object.entries(cases)) {
        const { closes = false, end = false, message, coding } = expected
        const bytes = typeof sent === 'string' ? sent : sent(server)
        const { text, closed } = await exchange(server.port, bytes, { end, quietMs: 1500 })
        const replies = repliesIn(text)
        t.same(
          replies.map(({ status }) => status),
          statuses,
          what,
        )
        t.equal(closed, closes, `${what}: whether the connection is closed`)
        for (const [i, { headers, body }] of replies.entries()) {
          const id = headers['x-request-id']!
          t.ok(id === `r${i}` || id.startsWith('req_'), `${what}: reply ${i} is of request ${id}`)
          if (message !== undefined) t.match(JSON.parse(body), { error: { message } }, what)
          if (coding !== undefined) t.equal(headers['content-encoding'], coding, what)
        }
      }
    })
  })

  t.test(`${transport}: more than waits behind an answer closes the connection behind it`, (t) => {
    const decider = stubDecider(async () => {
      await sleep(300)
      return decision
    })
    return withServer({ transport, decider }, async (server) => {
      const client = await RawClient.connect(server.port)
      client.send(post(server))
      const more = post(server, {}, `{"state":"${'x'.repeat(100_000)}"}`)
      for (let i = 0; i < 30; i++) client.send(more)
      let { status } = await client.reply()
      // While it waits, it is asked whether it is still there.
      while (status === 100) ({ status } = await client.reply())
      t.equal(status, 200)
      client.socket.destroy()
      t.equal((await fetch(`${server.url}/healthz`)).status, 200)
    })
  })

  t.test(`${transport}: a body that does not come in its time is 408, whole replies and all`, (t) =>
    withServer({ transport, bodyTimeoutMs: 300 }, async (server) => {
      for (const path of ['/v1/systemone', '/v1/systemone/batch', '/v1/decisions']) {
        const client = await RawClient.connect(server.port)
        const headers = { authorization: `Bearer ${server.key}`, 'content-length': '100' }
        client.send(`${request('POST', path, headers)}{`)
        const atMs = performance.now()
        const { status, headers: sent, body } = await client.reply()
        t.equal(status, 408)
        t.ok(performance.now() - atMs < 5000)
        t.equal(sent['connection'], 'close')
        t.match(JSON.parse(body), { error: { code: 'timeout', message: /within 300 ms/ } })
        await client.closed
        t.equal(server.handlers.running.size, 0)
      }
      t.equal(server.handlers.bodies.heldBytes, 0)
    }),
  )
}

t.test('clocks do not begin again: slow heads end, steady bodies do not', async (t) => {
  const trials = transports.flatMap((transport) => [
    withServer({ transport }, async (server) => {
      const client = await RawClient.connect(server.port)
      const atMs = performance.now()
      const bytes = get('/healthz').slice(0, -2)
      for (let i = 0; i < bytes.length && !client.socket.closed; i++) {
        client.send(bytes[i]!)
        await sleep(500)
        if (client.rest !== '') break
      }
      const { status, body } = await client.reply()
      t.equal(status, 408, `${transport}: a head of two bytes a second`)
      t.match(JSON.parse(body), { error: { code: 'timeout', message: /^The head/ } })
      const ms = performance.now() - atMs
      t.ok(ms > 7000 && ms < 20_000, `${transport}: after ${Math.round(ms)} ms`)
      await client.closed
    }),
    withServer({ transport }, async (server) => {
      const steady = await RawClient.connect(server.port)
      const slow = await RawClient.connect(server.port)
      const text = `{"state":"${'x'.repeat(20_000)}"}`
      const whole = post(server, {}, text)
      const headEnd = whole.length - text.length
      steady.send(whole.slice(0, headEnd))
      slow.send(whole.slice(0, headEnd))
      for (let i = 0; i < 13; i++) {
        steady.send(text.slice(1500 * i, 1500 * (i + 1)))
        slow.send(text.slice(500 * i, 500 * (i + 1)))
        await sleep(1000)
        if (slow.rest !== '') break
      }
      const { status, body } = await slow.reply()
      t.equal(status, 408, `${transport}: a body of 500 bytes a second`)
      t.match(JSON.parse(body), { error: { message: /more slowly than 1,024 bytes a second/ } })
      steady.send(text.slice(1500 * 11))
      t.ok([200, 422].includes((await steady.reply()).status), `${transport}: 1,500 are enough`)
      for (const client of [slow, steady]) client.socket.destroy()
    }),
  ])
  await Promise.all(trials)
})
