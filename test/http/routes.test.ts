import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DecideOptions } from '../../src/decide/types.js'
import { OiError } from '../../src/errors.js'
import type { Backend } from '../../src/http/handlers-options.js'
import { batchPath, get, post } from '../helpers/asking.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { decision, stubDecider, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

t.test('routes and methods', (t) =>
  withServer({}, async ({ port, key }) => {
    const client = await RawClient.connect(port)
    for (const [method, path, status, allow] of [
      ['GET', '/healthz?x=1', 200],
      ['POST', '/healthz', 405, 'GET, HEAD'],
      ['GET', '/v1/systemone', 405, 'POST'],
      ['OPTIONS', '/v1/systemone', 405, 'POST'],
      ['PROPFIND', '/readyz', 405, 'GET, HEAD'],
      ['HEAD', '/nowhere', 404],
      ['OPTIONS', '/', 204, 'GET, HEAD, POST, OPTIONS'],
      ['OPTIONS', '/nowhere', 404],
    ] as const) {
      client.send(request(method, path, { authorization: `Bearer ${key}` }))
      const reply = await client.reply(method === 'HEAD')
      t.equal(reply.status, status, `${method} ${path}`)
      t.equal(reply.headers.allow, allow)
      t.match(reply.headers, { 'content-type': 'application/json', 'server-timing': /total/ })
    }
    client.socket.destroy()
    t.equal(client.rest, '')
  }),
)

t.test('a path may be spelled in several ways', (t) =>
  withServer({}, async ({ port, key }) => {
    using client = await RawClient.connect(port)
    for (const path of [
      ...['/v1/systemone/', '//v1/systemone', '/v1//systemone', '/v1/v1/systemone'],
      ...[
        '/v1/v1/v1/systemone/',
        '/v1/systemone?x=/nowhere',
        '/v1/system%6fne',
        '/%76%31/systemone',
      ],
      'http://elsewhere.example/v1/systemone',
    ]) {
      client.send(request('POST', path, { authorization: `Bearer ${key}` }, '{}'))
      t.equal((await client.reply()).status, 200, path)
    }
    for (const [path, message] of [
      ['/systemone', /did you mean \/v1\/systemone\?/],
      ['/v1/sistemone', /did you mean \/v1\/systemone\?/],
      ['/v1/chat/completions', /other APIs.*POST \/v1\/systemone/],
      ['/v1/v1/embeddings', /other APIs.*POST \/v1\/systemone/],
      ['/v1/systemone/batc', /did you mean \/v1\/systemone\/batch\?/],
      ['/v1/systemone/v1/systemone', /leave \/v1\/systemone out of the base URL/],
      ['/v1/systemone/systemone/batch', /leave \/v1\/systemone out of the base URL/],
      ['/v1/systemone/v1/models', /leave \/v1\/systemone out of the base URL/],
      ['/robots.txt', /no such route: all of them are in GET \/openapi\.json$/],
      ['/', /no such route: all of them are in GET \/openapi\.json$/],
      ['/favicon.ico', /no such route: all of them/],
      ['/v1/systemone%2fbatch', /no such route/],
      [`/${'x'.repeat(8000)}`, /no such route/],
    ] as const) {
      client.send(request('POST', path, { authorization: `Bearer ${key}` }, '{}'))
      const { status, body } = await client.reply()
      t.equal(status, 404, path.slice(0, 40))
      t.match(JSON.parse(body), { error: { code: 'not_found', message } })
    }
  }),
)

t.test('the list of models suits both kinds of clients', (t) =>
  withServer({}, async (server) => {
    t.match(await (await get(server, '/v1/models')).json(), {
      models: [{ name: 'stub', aliases: ['default', 'latest'], default: true }],
      object: 'list',
      data: [{ id: 'stub', object: 'model', created: 1_735_776_000, owned_by: 'oi' }],
    })
  }),
)

t.test('workspace and remaining time are passed on with the request', async (t) => {
  const given: DecideOptions[] = []
  const decider = stubDecider(async (_request, options) => {
    given.push(options!)
    return decision
  })
  await withServer({ decider, deadlineMs: 60_000 }, async ({ port, key, handlers }) => {
    using client = await RawClient.connect(port)
    const bytes = request('POST', '/v1/systemone', { authorization: `Bearer ${key}` }, '{}')
    // The time begins with the last byte of the body, which has a time of its own.
    client.send(bytes.slice(0, -1))
    await until(() => handlers.running.size === 1)
    await sleep(500)
    client.send(bytes.slice(-1))
    t.equal((await client.reply()).status, 200)
  })
  const [{ workspace, deadlineMs }] = given as [DecideOptions]
  t.equal(workspace, 1)
  t.ok(deadlineMs! > 59_600 && deadlineMs! <= 60_000, `${deadlineMs} ms`)
})

for (const state of ['loading', 'failed', 'closing'] as const) {
  t.test(`while the backend is ${state}, 503 with a time to retry`, (t) => {
    const backend: Backend = { state: () => state, decider: () => undefined }
    return withServer({ backend }, async (server) => {
      t.equal((await get(server, '/healthz')).status, 200)
      for (const reply of [
        await get(server, '/readyz'),
        await get(server, '/v1/models'),
        await post(server, '{'),
        await post(server, '{', {}, batchPath),
      ]) {
        t.equal(reply.status, 503)
        const seconds = Number(reply.headers.get('retry-after'))
        t.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60)
        t.equal(Math.ceil(Number(reply.headers.get('retry-after-ms')) / 1000), seconds)
        t.match(await reply.json(), { error: { code: 'overloaded' } })
      }
      t.equal((await post({ ...server, key: 'oi-' })).status, 401)
    })
  })
}

t.test("a decider's errors", async (t) => {
  for (const [error, status, code, retryAfter] of [
    [
      new OiError('ERR_STATE_TOO_LONG', 'state: 9 tokens', { param: 'state' }),
      400,
      'invalid_request',
    ],
    [new OiError('ERR_TIMEOUT', 'not in time'), 504, 'timeout'],
    [new OiError('ERR_OVERLOADED', 'queue', { retryAfterMs: 1500 }), 503, 'overloaded', /^[23]$/],
    [new OiError('ERR_OVERLOADED', 'queue', { retryAfterMs: 1e9 }), 503, 'overloaded', /^60$/],
    [new OiError('ERR_OVERLOADED', 'queue', { retryAfterMs: 0 }), 503, 'overloaded', /^1$/],
  ] as const) {
    const decider = stubDecider(() => Promise.reject(error))
    await withServer({ decider }, async (server) => {
      const reply = await post(server)
      t.equal(reply.status, status)
      t.match(reply.headers.get('retry-after'), retryAfter ?? null)
      const body = { error: { code, message: error.message }, detail: error.message }
      t.match(await reply.json(), body)
    })
  }
})

t.test('a refused request says in server-timing what it took', async (t) => {
  const spent = { queue: 1, tokenize: 23.456, vision: 0, model: 0 }
  const error = new OiError('ERR_STATE_TOO_LONG', 'state: 9 tokens', { param: 'state', spent })
  const decider = stubDecider(() => Promise.reject(error))
  await withServer({ decider }, async (server) => {
    const reply = await post(server)
    t.match(reply.headers.get('server-timing'), /^queue;dur=1\.00, tokenize;dur=23\.46, /)
  })
})

t.test('a fault shows only its id, and is logged under it', async (t) => {
  const faults = [
    stubDecider(() => Promise.reject(new Error('inner secret'))),
    stubDecider(() => {
      throw new Error('inner secret')
    }),
    stubDecider(() => Promise.reject(new OiError('ERR_ENGINE_INTERNAL', 'inner secret'))),
    stubDecider(async () => ({ ...decision, timings: null as never })),
  ]
  for (const decider of faults) {
    await withServer({ decider }, async (server) => {
      const reply = await post(server, {}, { 'x-request-id': 'find-me' })
      t.equal(reply.status, 500)
      const text = await reply.text()
      t.match(JSON.parse(text), { error: { code: 'internal_error', message: /find-me/ } })
      t.notOk(text.includes('secret'))
      t.ok(server.log.some((line) => line.includes('"fault"') && line.includes('find-me')))
    })
  }
})
