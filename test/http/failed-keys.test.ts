/** Wrong keys: so many from one address, and then 429 for wrong ones only. */
import t from 'tap'
import { FailedKeys } from '../../src/http/failed-keys.js'
import { type StubServer, withServer } from '../helpers/stub.js'

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

t.test('the twenty-first wrong key of a minute has 429, and a good one is never refused', (t) =>
  withServer({}, async (server) => {
    const good = `Bearer ${server.key}`
    for (let i = 0; i < 20; i++) {
      const path = i % 2 === 0 ? '/v1/models' : '/v1/systemone/batch'
      t.equal((await ask(server, i < 10 ? wrong(i) : 'Basic x', path)).reply.status, 401)
    }
    for (const path of ['/v1/models', '/v1/systemone', '/v1/systemone/batch']) {
      const { reply, body } = await ask(server, wrong(21), path)
      t.equal(reply.status, 429)
      t.equal(body.error!.code, 'rate_limit_exceeded')
      t.match(body.detail, /^More than 20 wrong API keys came from 127\.0\.0\.1 /)
      const seconds = Number(reply.headers.get('retry-after'))
      t.ok(seconds >= 1 && seconds <= 60, `${seconds} s`)
      const ms = Number(reply.headers.get('retry-after-ms'))
      t.equal(Math.ceil(ms / 1000), seconds)
      t.ok(reply.headers.get('x-request-id'))
    }
    t.equal((await ask(server, good)).reply.status, 200)
    t.equal((await ask(server, good, '/v1/systemone')).reply.status, 200)
    t.equal((await ask(server, wrong(22))).reply.status, 429, 'a good key changes nothing for it')
  }),
)

t.test('no key at all is no guess', (t) =>
  withServer({}, async (server) => {
    for (let i = 0; i < 30; i++) t.equal((await ask(server)).reply.status, 401)
  }),
)

const refused = { code: 'ERR_RATE_LIMIT' }

/** @returns How many wrong keys are let through. */
function passing(keys: FailedKeys, address: string, nowMs: number): number {
  for (let i = 0; ; i++) {
    try {
      keys.count(address, nowMs)
    } catch {
      return i
    }
  }
}

t.test('after a minute an address may guess again', async (t) => {
  const keys = new FailedKeys()
  t.equal(passing(keys, '10.0.0.1', 0), 20)
  t.throws(() => keys.count('10.0.0.1', 45_000), { ...refused, retryAfterMs: 15_000 })
  t.throws(() => keys.count('10.0.0.1', 59_999), refused)
  t.equal(passing(keys, '10.0.0.1', 60_000), 20)
})

t.test('addresses are counted apart, those of one IPv6 network together', async (t) => {
  const keys = new FailedKeys()
  const network = '2001:0db8:0001:0002'
  t.equal(passing(keys, '10.0.0.1', 0), 20)
  t.equal(passing(keys, '10.0.0.2', 0), 20)
  t.equal(passing(keys, `${network}:0000:0000:0000:0001`, 0), 20)
  t.throws(() => keys.count(`${network}:0000:0000:0000:0002`, 0), refused)
  t.equal(passing(keys, '2001:0db8:0001:0003:0000:0000:0000:0001', 0), 20)
})

t.test('the memory for addresses is bounded, and the oldest is forgotten', async (t) => {
  const keys = new FailedKeys()
  for (let i = 0; i < 30_000; i++) keys.count(`address ${i}`, 0)
  t.equal(keys.size, 10_000)
  t.equal(passing(keys, 'address 29999', 0), 19)
  t.equal(passing(keys, 'address 0', 0), 20)
  t.equal(keys.size, 10_000)
})
