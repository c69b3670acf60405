/** Requests without a key, if programs on this machine need none. */
import t from 'tap'
import { request } from 'node:http'
import { TrustedProxies } from '../../src/http/access/client-address.js'
import { createCors } from '../../src/http/access/cors.js'
import { ofWorkspaces, withServer } from '../helpers/stub.js'

const asking = '{"state":"s","questions":{"q":{"type":"noul","instructions":"Is it?"}}}'

/** Not by fetch, which sets some headers by itself. @returns The status. */
const ask = (port: number, headers: Record<string, string> = {}, path = '/v1/systemone') =>
  new Promise<number>((resolve, reject) => {
    const method = path === '/v1/systemone' ? 'POST' : 'GET'
    request({ port, path, method, headers }, (reply) => {
      reply.resume().on('end', () => resolve(reply.statusCode!))
    })
      .on('error', reject)
      .end(method === 'POST' ? asking : undefined)
  })

t.test(
  'with the setting, programs on this machine are the default workspace, and are counted',
  (t) =>
    withServer(
      { admissionOf: ofWorkspaces, anonymous: true },
      async ({ port, url, key, accounts }) => {
        t.equal(await ask(port), 200)
        t.equal(await ask(port, { host: 'localhost:8080' }), 200)
        for (const path of ['/v1/models', '/v1/usage']) t.equal(await ask(port, {}, path), 200)
        t.match(accounts.usage('default').usage, [{ requests: 2, inputTokens: 24 }])
        const report = (await (await fetch(`${url}/v1/usage`)).json()) as object
        t.match(report, { workspace: 'default' })
        t.notOk('key' in report)
        t.equal(await ask(port, { authorization: `Bearer ${key}` }), 200)
      },
    ),
)

t.test('what may be a key must be valid; what clients make up where one is required is none', (t) =>
  withServer({ admissionOf: ofWorkspaces, anonymous: true }, async ({ port, accounts }) => {
    for (const key of [
      'Bearer oi-wrong',
      'bearer OI-wrong',
      'oi-wrong',
      `Bearer oi-${'a'.repeat(43)}`,
    ]) {
      t.equal(await ask(port, { authorization: key }), 401, key)
    }
    const made = ['Bearer local', 'Bearer dummy', 'Bearer sk-oi-1', 'Bearer', 'Basic eDp5', 'none']
    for (const authorization of made)
      t.equal(await ask(port, { authorization }), 200, authorization)
    t.match(accounts.usage('default').usage, [{ requests: made.length }])
    // Two in one turn of the event loop: who is here says nothing of who is elsewhere.
    const authorization = 'Bearer local'
    const [here, elsewhere] = await Promise.all([
      ask(port, { authorization }),
      ask(port, { authorization, 'x-forwarded-for': '203.0.113.7' }),
    ])
    t.strictSame([here, elsewhere], [200, 401])
  }),
)

t.test('requests that only pass through this machine need a key', (t) =>
  withServer({ admissionOf: ofWorkspaces, anonymous: true }, async ({ port }) => {
    for (const headers of [
      { 'x-forwarded-for': '203.0.113.7' },
      { 'x-forwarded-for': '127.0.0.1' },
      { forwarded: 'for=127.0.0.1' },
      { 'x-real-ip': '127.0.0.1' },
      { via: '1.1 proxy' },
      { host: 'rebound.example' },
      { host: '127.0.0.1.example' },
      { origin: 'https://page.example' },
      { origin: 'null' },
      { origin: `http://localhost:${port}` },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      t.equal(await ask(port, headers as Record<string, string>), 401, JSON.stringify(headers))
    }
  }),
)

t.test('a trusted proxy names the client, and the CORS setting admits pages', (t) => {
  const trustedProxies = new TrustedProxies(['127.0.0.1'])
  const cors = createCors('https://app.example')
  return withServer(
    { admissionOf: ofWorkspaces, anonymous: true, trustedProxies, cors },
    async ({ port }) => {
      t.equal(await ask(port, { 'x-forwarded-for': '203.0.113.7' }), 401)
      t.equal(await ask(port, { 'x-forwarded-for': '127.0.0.1' }), 200)
      t.equal(await ask(port, { origin: 'https://app.example' }), 200)
      t.equal(await ask(port, { origin: 'https://other.example' }), 401)
    },
  )
})
