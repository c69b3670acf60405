/** Wrong keys: always 401; after twenty from one address, late and with a time to wait. */
import t from 'tap'
import { createTrustedProxies } from '../../src/http/access/client-address.js'
import { FailedKeys } from '../../src/http/access/failed-keys.js'
import { RawClient } from '../helpers/raw-client.js'
import { type StubServer, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const wrong = (i: number) => `Bearer oi-${String(i).padStart(43, '0')}`

async function ask({ url }: StubServer, authorization?: string, path = '/v1/models') {
  const type = { 'content-type': 'application/json' }
  const headers = authorization === undefined ? type : { ...type, authorization }
  const reply = await fetch(url + path, {
    headers,
    ...(path !== '/v1/models' && { method: 'POST', body: '{}' }),
  })
  return { reply, body: (await reply.json()) as { error?: { code: string }; detail?: string } }
}

t.test('a wrong key is always 401, late from the 21st in a minute on; a good key never is', (t) =>
  withServer({}, async (server) => {
    const good = `Bearer ${server.key}`
    for (let i = 0; i < 20; i++) {
      const path = i % 2 === 0 ? '/v1/models' : '/v1/systemone/batch'
      t.equal((await ask(server, i < 10 ? wrong(i) : 'Basic x', path)).reply.status, 401)
    }
    for (const path of ['/v1/models', '/v1/systemone', '/v1/systemone/batch']) {
      const { reply, body } = await ask(server, wrong(21), path)
      t.equal(reply.status, 401)
      t.equal(body.error!.code, 'invalid_api_key')
      t.match(body.detail, /Authorization: Bearer/)
      const seconds = Number(reply.headers.get('retry-after'))
      t.ok(seconds >= 1 && seconds <= 60, `${seconds} s`)
      const ms = Number(reply.headers.get('retry-after-ms'))
      t.equal(Math.ceil(ms / 1000), seconds)
      t.ok(reply.headers.get('x-request-id'))
    }
    t.equal((await ask(server, good)).reply.status, 200)
    t.equal((await ask(server, good, '/v1/systemone')).reply.status, 200)
    const { reply } = await ask(server, wrong(22))
    t.ok(reply.headers.get('retry-after'), 'a good key changes nothing for it')
    const fromMs = performance.now()
    for (let i = 0; i < 5; i++) await ask(server, wrong(23 + i))
    t.ok(performance.now() - fromMs > 5 * 80, 'each is answered later than the last')
  }),
)

t.test('a missing key is not a guess', (t) =>
  withServer({}, async (server) => {
    for (let i = 0; i < 30; i++) t.equal((await ask(server)).reply.status, 401)
  }),
)

t.test('only some late answers are held, and clients that leave are forgotten', (t) =>
  withServer({}, async (server) => {
    for (let i = 0; i < 20; i++) await ask(server, wrong(i))
    const all = await Promise.all(Array.from({ length: 400 }, (_, i) => ask(server, wrong(i))))
    t.ok(all.every(({ reply }) => reply.status === 401))
    await t.rejects(
      fetch(`${server.url}/v1/models`, {
        headers: { authorization: wrong(0) },
        signal: AbortSignal.timeout(50),
      }),
    )
    t.equal((await ask(server, `Bearer ${server.key}`)).reply.status, 200)
  }),
)

t.test('a late answer does not wait for its body, and closing does not wait for it', (t) =>
  withServer({}, async (server) => {
    for (let i = 0; i < 70; i++) server.handlers.failedKeys.count('127.0.0.1')
    const { reply } = await ask(server, wrong(1), '/v1/systemone')
    t.equal(reply.status, 401)
    const pending = ask(server, wrong(2), '/v1/systemone')
    await until(() => server.handlers.running.size === 1)
    await server.server.close(0)
    t.equal((await pending).reply.status, 401)
    t.equal(server.handlers.running.size, 0)
  }),
)

t.test('on ::, IPv4 addresses are counted one by one', (t) =>
  withServer({ host: '::' }, async (server) => {
    for (let i = 0; i < 21; i++) server.handlers.failedKeys.count('::ffff:127.0.0.2')
    const { reply } = await ask(server, wrong(1))
    t.equal(reply.headers.get('retry-after'), null)
  }),
)

t.test('behind a trusted proxy the client is counted, not the proxy', (t) =>
  withServer({ trustedProxies: createTrustedProxies('127.0.0.1') }, async ({ url, handlers }) => {
    for (let i = 0; i < 21; i++) handlers.failedKeys.count('203.0.113.9')
    const from = async (forwarded: string) => {
      const headers = { authorization: wrong(1), 'x-forwarded-for': forwarded }
      return (await fetch(`${url}/v1/models`, { headers })).headers.has('retry-after')
    }
    t.ok(await from('203.0.113.9'))
    t.ok(await from('198.51.100.1, 203.0.113.9'))
    t.notOk(await from('203.0.113.9, 198.51.100.1'))
  }),
)

for (const transport of ['uws', 'node'] as const) {
  t.test(`${transport}: a client's own X-Forwarded-For line counts for nothing`, (t) => {
    const options = { transport, trustedProxies: createTrustedProxies('127.0.0.1') }
    return withServer(options, async ({ port, handlers }) => {
      for (let i = 0; i < 21; i++) handlers.failedKeys.count('203.0.113.9')
      using client = await RawClient.connect(port)
      // HAProxy's forwardfor adds its own line.
      const lines = ['X-Forwarded-For: 198.51.100.1', 'X-Forwarded-For: 203.0.113.9']
      client.send(
        `GET /v1/models HTTP/1.1\r\nHost: h\r\nAuthorization: ${wrong(1)}\r\n${lines.join('\r\n')}\r\n\r\n`,
      )
      const reply = await client.reply()
      t.equal(reply.status, 401)
      t.ok(reply.headers['retry-after'])
    })
  })
}

/** @returns How many wrong keys are answered at once. */
function passing(keys: FailedKeys, address: string, nowMs: number): number {
  let count = 0
  while (keys.count(address, nowMs) === undefined) count++
  return count
}

t.test('after a minute an address may guess again', async (t) => {
  const keys = new FailedKeys()
  t.equal(passing(keys, '10.0.0.1', 0), 20)
  t.match(keys.count('10.0.0.1', 45_000), { retryAfterMs: 15_000, delayMs: 40 })
  t.ok(keys.count('10.0.0.1', 59_999))
  t.equal(passing(keys, '10.0.0.1', 60_000), 20)
})

t.test('no answer is held longer than a second', async (t) => {
  const keys = new FailedKeys()
  for (let i = 0; i < 1000; i++) keys.count('10.0.0.1', 0)
  t.equal(keys.count('10.0.0.1', 0)!.delayMs, 1000)
})

t.test('addresses are counted one by one, those of one IPv6 network together', async (t) => {
  const keys = new FailedKeys()
  const network = '2001:0db8:0001:0002'
  t.equal(passing(keys, '10.0.0.1', 0), 20)
  t.equal(passing(keys, '10.0.0.2', 0), 20)
  t.ok(keys.count('::ffff:10.0.0.2', 0))
  t.equal(passing(keys, `${network}:0000:0000:0000:0001`, 0), 20)
  t.ok(keys.count(`${network}:0000:0000:0000:0002`, 0))
  t.ok(keys.count('2001:db8:1:2::3', 0))
  t.equal(passing(keys, '2001:0db8:0001:0003:0000:0000:0000:0001', 0), 20)
})

t.test('the table of addresses is bounded, and forgets the oldest', async (t) => {
  const keys = new FailedKeys()
  for (let i = 0; i < 30_000; i++) keys.count(`address ${i}`, 0)
  t.equal(keys.size, 10_000)
  t.equal(passing(keys, 'address 29999', 0), 19)
  t.equal(passing(keys, 'address 0', 0), 20)
  t.equal(keys.size, 10_000)
})
