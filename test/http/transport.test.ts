/** HTTP in the wild: other versions, odd and malformed requests, half-open connections. */
import t, { type Test } from 'tap'
import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { exchange as exchangeRaw, RawClient, repliesIn, request } from '../helpers/raw-client.js'
import { type StubServer, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const transports = ['uws', 'node'] as const

/** What the server sends until a reply is complete. */
const exchange = ({ port }: { port: number }, bytes: string, { end = false, waitMs = 5000 } = {}) =>
  exchangeRaw(port, bytes, { end, quietMs: waitMs, isEnough: isWhole })

/** Whether a reply with a length is complete. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  const length = /^content-length: (\d+)/im.exec(text.slice(0, end))?.[1]
  return end >= 0 && length !== undefined && text.length >= end + 4 + Number(length)
}

const parse = (text: string) => repliesIn(text)[0]!

function isRefused(t: Test, text: string, status: number, name: string): void {
  const { headers, body, status: got } = parse(text)
  t.equal(got, status, name)
  t.match(headers['x-request-id'], /^req_[0-9a-f]{32}$/, name)
  const { error, detail } = JSON.parse(body) as {
    error: { code: string; message: string }
    detail: string
  }
  t.ok(error.code, name)
  t.equal(detail, error.message, name)
}

const post = (server: StubServer, more: string, body: string, version = '1.1') =>
  `POST /v1/systemone HTTP/${version}\r\nHost: h\r\nAuthorization: Bearer ${server.key}\r\n` +
  `Content-Type: application/json\r\n${more}\r\n${body}`

for (const transport of transports) {
  t.test(
    `${transport}: HTTP/1.0 is answered, and the connection closed unless it is kept alive`,
    (t) =>
      withServer({ transport }, async (server) => {
        const one = await exchange(server, 'GET /healthz HTTP/1.0\r\n\r\n')
        t.equal(parse(one.text).status, 200)
        t.ok(one.closed)
        const asked = await exchange(server, post(server, 'Content-Length: 2\r\n', '{}', '1.0'))
        t.match(parse(asked.text), { status: 200, body: /"noul":0\.75/ })
        const kept = await exchange(
          server,
          'GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n',
        )
        t.match(parse(kept.text), { status: 200, headers: { connection: 'keep-alive' } })
        t.notOk(kept.closed)
        const check = await exchange(server, 'OPTIONS / HTTP/1.0\r\n\r\n')
        t.equal(parse(check.text).status, 204, "HAProxy's own question")
      }),
  )

  t.test(`${transport}: unreadable HTTP is refused in the usual form`, (t) =>
    withServer({ transport }, async (server) => {
      for (const [bytes, status] of [
        ['get /healthz HTTP/1.1\r\nHost: h\r\n\r\n', 400],
        ['GET /healthz HTTP/2.0\r\nHost: h\r\n\r\n', 505],
        ['GET /healthz HTTP/3\r\nHost: h\r\n\r\n', 505],
        ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
        ['GET /healthz HTTP/1.1\r\n\r\n', 400],
        ['GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
        ['GET /healthz HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n', 400],
        ['GET /healthz HTTP/1.1\r\nHost: h\r\nA: \0\r\n\r\n', 400],
        ['GET /healthz HTTP/1.1\r\nHost: h\r\nA : b\r\n\r\n', 400],
        [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: h\r\n\r\n`, 431],
        [`GET /healthz HTTP/1.1\r\nHost: h\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
        ['\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03', 400],
        [post(server, 'Content-Length: 2\r\nContent-Length: 3\r\n', '{}'), 400],
        [post(server, 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), 400],
        [post(server, 'Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'), 400],
        [post(server, 'Transfer-Encoding: chunked\r\n', 'zz\r\n{}\r\n'), 400],
        [post(server, 'Content-Length: +2\r\n', '{}'), 400],
        [post(server, 'Expect: 200-ok\r\nContent-Length: 2\r\n', '{}'), 417],
        ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
      ] as const) {
        const name = JSON.stringify(bytes.slice(0, 70))
        isRefused(t, (await exchange(server, bytes)).text, status, name)
        // Also after a request on the same connection.
        using client = await RawClient.connect(server.port)
        client.send(request('GET', '/healthz'))
        t.equal((await client.reply()).status, 200)
        client.send(Buffer.from(bytes, 'latin1'))
        t.equal((await client.reply()).status, status, `second: ${name}`)
      }
      t.equal((await exchange(server, request('GET', '/healthz'))).text.slice(9, 12), '200')
    }),
  )

  t.test(`${transport}: bodies in chunks, expectations and offers of other protocols`, (t) =>
    withServer({ transport }, async (server) => {
      const chunked = post(
        server,
        'Transfer-Encoding: chunked\r\n',
        '1\r\n{\r\n1\r\n}\r\n0\r\n\r\n',
      )
      t.equal(parse((await exchange(server, chunked)).text).status, 200)
      const upgrade =
        'GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
      t.equal(parse((await exchange(server, upgrade)).text).status, 200)

      const client = await RawClient.connect(server.port)
      client.send(post(server, 'Expect: 100-continue\r\nContent-Length: 2\r\n', ''))
      t.equal((await client.reply()).status, 100)
      client.send('{}')
      t.equal((await client.reply()).status, 200)
      client.socket.destroy()
      const length = 'Expect: 100-continue\r\nContent-Length: 9999999\r\n'
      const refused = await exchange(server, post(server, length, ''))
      t.equal(parse(refused.text).status, 413, 'before the body is asked for')
    }),
  )

  t.test(`${transport}: a head that comes byte by byte, and one that never ends`, (t) =>
    withServer({ transport }, async (server) => {
      const client = await RawClient.connect(server.port)
      for (const byte of request('GET', '/healthz')) {
        client.send(byte)
        await sleep(1)
      }
      t.equal((await client.reply()).status, 200)
      client.send(`GET / HTTP/1.1\r\nHost: h\r\nA: ${'x'.repeat(17_000)}`)
      t.equal((await client.reply()).status, 431)
      await client.closed
    }),
  )

  t.test(`${transport}: an idle connection is kept as long as the replies say`, (t) =>
    withServer({ transport, idleTimeoutMs: 20_000 }, async (server) => {
      using client = await RawClient.connect(server.port)
      client.send(request('GET', '/healthz'))
      t.match(await client.reply(), { headers: { 'keep-alive': 'timeout=20' } })
      // Longer than the defaults of uWebSockets.js and node:http.
      await sleep(transport === 'uws' ? 14_000 : 6500)
      client.send(request('GET', '/healthz'))
      t.equal((await client.reply()).status, 200)
    }),
  )

  t.test(`${transport}: on :: it listens to IPv4 too`, (t) =>
    withServer({ transport, host: '::' }, async ({ port }) => {
      t.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
      t.equal((await fetch(`http://[::1]:${port}/healthz`)).status, 200)
    }),
  )

  t.test(`${transport}: hundreds of odd connections leave no descriptor behind`, (t) =>
    withServer({ transport }, async (server) => {
      const open = () => readdirSync('/proc/self/fd').length
      await exchange(server, 'GET /healthz HTTP/1.0\r\n\r\n')
      const before = open()
      for (let i = 0; i < 20; i++) {
        const some = Array.from({ length: 20 }, () =>
          exchange(server, i % 2 === 0 ? 'GET /healthz HTTP/1.0\r\n\r\n' : 'nonsense\r\n\r\n'),
        )
        await Promise.all(some)
      }
      await until(() => open() <= before + 5)
      t.pass()
    }),
  )
}

t.test('PROXY protocol: the header names the client, and without a header there is no reply', (t) =>
  withServer({ proxyProtocol: true }, async (server) => {
    const wrong = request('GET', '/v1/models', { authorization: 'Bearer oi-x' })
    const v2 = Buffer.from('0d0a0d0a000d0a515549540a2111000ccb007109c000020101bb01bb', 'hex')
    for (let i = 0; i < 21; i++) {
      await exchange(server, `PROXY TCP4 203.0.113.9 127.0.0.1 1 2\r\n${wrong}`)
    }
    const limited = await exchange(server, v2.toString('latin1') + wrong)
    t.ok(parse(limited.text).headers['retry-after'], 'both versions name the same client')
    const other = await exchange(server, `PROXY TCP6 fd00::1 ::1 1 2\r\n${wrong}`)
    t.notOk(parse(other.text).headers['retry-after'])
    t.equal(parse((await exchange(server, `PROXY UNKNOWN\r\n${wrong}`)).text).status, 401)
    t.equal((await exchange(server, wrong)).text, '')
  }),
)
