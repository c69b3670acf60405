/** Pages of other origins: which may call, what they may send and read, and that others may not. */
import t from 'tap'
import { readConfig } from '../../src/config.js'
import { createCors } from '../../src/http/access/cors.js'
import { linesType } from '../helpers/asking.js'
import { postBatch } from '../helpers/batch.js'
import { type StubServer, withServer } from '../helpers/stub.js'

const app = 'https://app.example'
const preflight = { origin: app, 'access-control-request-method': 'POST' }

const ask = ({ url }: StubServer, path: string, method: string, headers: Record<string, string>) =>
  fetch(url + path, { method, headers, ...(method === 'POST' && { body: '{}' }) })

const crossOrigin = ({ headers }: Response) =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'))

t.test('without the setting, no reply has CORS headers and OPTIONS is 405', (t) =>
  withServer({}, async (server) => {
    for (const [path, method, status] of [
      ['/v1/systemone', 'OPTIONS', 405],
      ['/v1/models', 'OPTIONS', 405],
      ['/healthz', 'GET', 200],
    ] as const) {
      const reply = await ask(server, path, method, preflight)
      t.equal(reply.status, status)
      t.strictSame(crossOrigin(reply), [])
      t.equal(reply.headers.get('vary'), null)
    }
  }),
)

t.test('a page of a listed origin gets an answer to its preflight, whatever its key is', (t) =>
  withServer({ cors: createCors(`https://other.example, ${app}`) }, async (server) => {
    for (const [path, methods] of [
      ['/v1/systemone', 'POST'],
      ['/v1/systemone/batch', 'POST'],
      ['/v1/models', 'GET, HEAD'],
      // The call itself has 404, which the page can read only if the preflight succeeds.
      ['/v1/nowhere', 'GET, HEAD, POST'],
    ] as const) {
      const headers = { ...preflight, authorization: 'Bearer wrong' }
      const reply = await ask(server, path, 'OPTIONS', headers)
      t.equal(reply.status, 204)
      t.equal(await reply.text(), '')
      t.equal(reply.headers.get('content-length'), null)
      t.equal(reply.headers.get('access-control-allow-origin'), app)
      t.equal(reply.headers.get('access-control-allow-methods'), methods)
      t.equal(reply.headers.get('vary'), 'origin')
      t.ok(Number(reply.headers.get('access-control-max-age')) > 0)
      t.ok(reply.headers.get('x-request-id'))
      const allowed = reply.headers.get('access-control-allow-headers')!.split(', ')
      const sent = ['x-request-id', 'x-oi-evidence', 'x-oi-orders']
      for (const name of ['authorization', 'content-type', ...sent]) {
        t.ok(allowed.includes(name), name)
      }
      t.equal(reply.headers.get('access-control-allow-credentials'), null)
    }
  }),
)

t.test('a page may send any headers that it asks for', (t) =>
  withServer({ cors: createCors(app) }, async (server) => {
    const asking = async (headers: string, more: Record<string, string> = {}) => {
      const asked = { ...preflight, 'access-control-request-headers': headers, ...more }
      return (await ask(server, '/v1/systemone', 'OPTIONS', asked)).headers
    }
    for (const headers of [
      'authorization,content-type,x-typesafe-sdk-version',
      'traceparent, tracestate, baggage',
    ]) {
      t.equal((await asking(headers)).get('access-control-allow-headers'), headers)
    }
    for (const odd of ['a b', '<x>', `x${'y'.repeat(3000)}`, ',']) {
      t.match((await asking(odd)).get('access-control-allow-headers'), /^authorization, /, odd)
    }
    const near = await asking('authorization', { 'access-control-request-private-network': 'true' })
    t.equal(near.get('access-control-allow-private-network'), 'true')
  }),
)

t.test('a listed origin may read every reply, also errors and lines', (t) =>
  withServer({ cors: createCors(app) }, async (server) => {
    const headers = { origin: app, authorization: `Bearer ${server.key}` }
    for (const [path, method, more, status] of [
      ['/v1/systemone', 'POST', {}, 200],
      ['/v1/systemone', 'POST', { 'content-type': 'text/plain' }, 400],
      ['/v1/systemone', 'POST', { authorization: '' }, 401],
      ['/v1/systemone', 'GET', {}, 405],
      ['/v1/systemone', 'OPTIONS', {}, 405],
      ['/v1/systemone/batch', 'POST', {}, 422],
      ['/v1/systemone/batch', 'POST', { 'content-type': 'text/plain' }, 400],
      ['/v1/models', 'GET', {}, 200],
      ['/nowhere', 'GET', {}, 404],
      ['/metrics', 'GET', {}, 200],
    ] as const) {
      const type = { 'content-type': 'application/json' }
      const reply = await ask(server, path, method, { ...headers, ...type, ...more })
      t.equal(reply.status, status, `${method} ${path}`)
      t.equal(reply.headers.get('access-control-allow-origin'), app)
      // Long enough to be compressed for clients that ask.
      const vary = path === '/metrics' ? 'accept-encoding, origin' : 'origin'
      t.equal(reply.headers.get('vary'), vary)
      const exposed = reply.headers.get('access-control-expose-headers')!.split(', ')
      for (const name of [
        'x-request-id',
        'server-timing',
        'retry-after',
        'x-oi-ignored',
        'x-oi-cached-tokens',
      ]) {
        t.ok(exposed.includes(name), name)
      }
      await reply.text()
    }
    const lines = await postBatch(server, { requests: [1] }, { origin: app, accept: linesType })
    t.equal(lines.status, 200)
    t.equal(lines.headers.get('access-control-allow-origin'), app)
    await lines.text()
  }),
)

t.test('other origins get no CORS headers, and similar ones are not admitted', (t) =>
  withServer({ cors: createCors(app) }, async (server) => {
    for (const origin of [
      ...['http://app.example', 'https://app.example:8443', 'https://app.example.org'],
      ...['https://xapp.example', 'https://app.example/', 'null', 'HTTPS://APP.EXAMPLE'],
    ]) {
      const asked = await ask(server, '/v1/systemone', 'OPTIONS', { ...preflight, origin })
      t.equal(asked.status, 405, origin)
      t.strictSame(crossOrigin(asked), [])
      t.equal(asked.headers.get('vary'), 'origin')
      const reply = await ask(server, '/healthz', 'GET', { origin })
      t.equal(reply.status, 200)
      t.strictSame(crossOrigin(reply), [])
      t.equal(reply.headers.get('vary'), 'origin')
    }
    const none = await ask(server, '/healthz', 'GET', {})
    t.strictSame(crossOrigin(none), [])
    t.equal(none.headers.get('vary'), 'origin')
  }),
)

t.test('an asterisk admits every origin', (t) =>
  withServer({ cors: createCors('*') }, async (server) => {
    const asked = await ask(server, '/v1/systemone', 'OPTIONS', preflight)
    t.equal(asked.status, 204)
    for (const headers of [{ origin: app }, {}]) {
      const reply = await ask(server, '/healthz', 'GET', headers)
      t.equal(reply.headers.get('access-control-allow-origin'), '*')
    }
  }),
)

t.test('valid values of the setting', async (t) => {
  for (const corsOrigins of [
    ...['', '*', app, `${app},http://localhost:3000`, `${app} , http://[::1]:80`],
    'chrome-extension://abcdefgh',
  ]) {
    t.equal(readConfig({}, { corsOrigins }).corsOrigins, corsOrigins)
  }
  for (const corsOrigins of [
    ...['app.example', `${app}/`, `${app}/path`, 'https://App.example', `${app},`, `*,${app}`],
    ...['null', 'https://*.example', 'https://', `${app}\nx: y`],
  ]) {
    t.throws(
      () => readConfig({ OI_CORS_ORIGINS: corsOrigins }),
      { code: 'ERR_CONFIG', message: /^OI_CORS_ORIGINS: expected origins like / },
      corsOrigins,
    )
  }
})
