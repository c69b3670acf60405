/** `oi-systemone/client` with servers, proxies and networks that misbehave. */
import t from 'tap'
import { createClient, OiRequestError } from '../../src/client/index.js'
import {
  type Answering,
  play,
  refusal,
  sendJson,
  type TestServer,
  withHttpServer,
} from '../helpers/http-server.js'
import { until } from '../helpers/until.js'
import { vacantPort } from '../helpers/vacant-port.js'

const asking = { state: 1, questions: { q: { type: 'noul', instructions: 'Is it?' } } } as const
const html = '<html><body><h1>502 Bad Gateway</h1></body></html>'

const connect = ({ url }: Pick<TestServer, 'url'>, maxRetries = 0) =>
  createClient({ baseUrl: url, apiKey: 'oi-key', maxRetries })

/** Answers the first request this way, and all others correctly. */
const atFirst =
  (answer: Answering): Answering =>
  (request, response, count) =>
    (count === 0 ? answer : play)(request, response, count)

for (const [title, answer, expected] of [
  [
    'an error page of a proxy',
    (_, response) => response.writeHead(502, { 'content-type': 'text/html' }).end(html),
    { code: 'unexpected_reply', status: 502, message: /with status 502, got <html>/ },
  ],
  [
    'an error without a body',
    (_, response) => response.writeHead(500).end(),
    { code: 'unexpected_reply', status: 500, message: /got nothing$/ },
  ],
  [
    'an error of another interface',
    (_, response) => sendJson(response, 403, { error: 'forbidden', message: 'x' }),
    { code: 'unexpected_reply', status: 403 },
  ],
  [
    'a page instead of an answer',
    (_, response) => response.writeHead(200).end(html),
    { code: 'unexpected_reply', status: 200, message: /^Expected JSON with answers, got <html>/ },
  ],
  [
    'half of an answer',
    (_, response) => response.writeHead(200).end('{"model":"m","answers":{"q":'),
    { code: 'unexpected_reply', status: 200 },
  ],
  [
    'JSON that is no answer',
    (_, response) => sendJson(response, 200, { answers: null }),
    { code: 'unexpected_reply', status: 200, message: /got \{"answers":null\}$/ },
  ],
  [
    'a code that is not known',
    (_, response) => sendJson(response, 418, refusal('teapot', 'short')),
    { code: 'teapot', status: 418, message: 'short' },
  ],
  [
    'a connection that is cut before the reply',
    (_, response) => response.destroy(),
    { code: 'connection_failed', status: undefined, message: /^Cannot reach http:.*: ./ },
  ],
  [
    'a connection that is cut inside the reply',
    (_, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('{"answers":{', () => response.destroy())
    },
    { code: 'connection_failed', status: undefined },
  ],
] as const satisfies readonly (readonly [string, Answering, object])[]) {
  t.test(`${title} is an error that says so`, (t) =>
    withHttpServer(answer, async (server) => {
      const error: unknown = await connect(server)
        .decide(asking)
        .catch((error: unknown) => error)
      t.type(error, OiRequestError)
      t.match(error, expected)
      t.equal(server.received.length, 1)
    }),
  )
}

t.test('a reply that does not begin, or does not end, times out', async (t) => {
  const silent: Answering[] = [
    () => {},
    (_, response) => response.flushHeaders(),
    (_, response) => response.writeHead(200).write('{"answers":{'),
  ]
  for (const answer of silent) {
    await withHttpServer(answer, async (server) => {
      await t.rejects(connect(server).decide(asking, { timeoutMs: 200 }), {
        code: 'request_timeout',
        message: /^No whole reply from http:.*\/v1\/systemone within 200 ms$/,
        status: undefined,
      })
    })
  }
})

for (const [title, answer] of [
  ['an error page of a proxy', (_, response) => response.writeHead(503).end(html)],
  ['a connection that is cut', (_, response) => response.destroy()],
  ['a request that came too slowly', (_, response) => sendJson(response, 408, refusal('timeout'))],
  [
    'a minute that is used up, with a date that has passed',
    (_, response) =>
      sendJson(response, 429, refusal('rate_limit_exceeded'), {
        'retry-after': new Date(0).toUTCString(),
      }),
  ],
] as const satisfies readonly (readonly [string, Answering])[]) {
  t.test(`${title} is tried again, with the same request`, (t) =>
    withHttpServer(atFirst(answer), async (server) => {
      t.match(await connect(server, 1).decide(asking), { model: 'played', requestId: 'played' })
      const [first, second, ...more] = server.received
      t.match(second, first!)
      t.strictSame(JSON.parse(second!.body), asking)
      t.equal(more.length, 0)
    }),
  )
}

t.test('an abort ends the wait for another attempt', async (t) => {
  const later: Answering = (_, response) =>
    sendJson(response, 503, refusal('overloaded'), { 'retry-after': '60' })
  await withHttpServer(later, async (server) => {
    const controller = new AbortController()
    const call = connect(server, 5).decide(asking, { signal: controller.signal })
    await until(() => server.received.length !== 0)
    // Most likely during the wait; at any other time the result is the same.
    setTimeout(() => controller.abort(), 50)
    await t.rejects(call, { code: 'request_aborted' })
    t.equal(server.received.length, 1)
  })
})

t.test('a refused connection is an error that says so', async (t) => {
  const client = connect({ url: `http://127.0.0.1:${await vacantPort()}` })
  await t.rejects(client.models(), {
    code: 'connection_failed',
    message: /ECONNREFUSED/,
    cause: { cause: { code: 'ECONNREFUSED' } },
  })
})

t.test('a given fetch and given headers are used, and the client’s headers win', (t) =>
  withHttpServer(play, async ({ url, received }) => {
    const urls: string[] = []
    const client = createClient({
      baseUrl: url,
      apiKey: 'oi-key',
      headers: { 'x-tenant': '7', authorization: 'Basic x' },
      fetch: (url, init) => {
        urls.push(url)
        return fetch(url, init)
      },
    })
    await client.decide(asking)
    await client.models()
    t.strictSame(urls, [`${url}/v1/systemone`, `${url}/v1/models`])
    const common = { 'x-tenant': '7', authorization: 'Bearer oi-key', accept: 'application/json' }
    t.match(received, [
      { method: 'POST', headers: { ...common, 'content-type': 'application/json' } },
      { method: 'GET', headers: { ...common, 'content-type': undefined }, body: '' },
    ])
  }),
)
