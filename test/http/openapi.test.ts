/** The OpenAPI document agrees with the server that it describes. */
import t, { type Test } from 'tap'
import { type ErrorCode, OiError } from '../../src/errors.js'
import { type Admission, openAdmission } from '../../src/http/access/admission.js'
import type { Backend } from '../../src/http/handlers-options.js'
import { headersOf } from '../helpers/asking.js'
import { fetchOpenApi, sendExamples } from '../helpers/openapi-examples.js'
import type { OpenApi } from '../helpers/openapi.js'
import { stubDecider, withServer, withFake } from '../helpers/stub.js'

const body = JSON.stringify({ state: 's', questions: { q: { type: 'noul', instructions: 'a' } } })

interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** Sends a request, and checks its reply against a status and the document. */
async function expect(
  t: Test,
  openApi: OpenApi,
  address: string,
  status: number,
  { method = 'GET', ...rest }: Sent = {},
): Promise<Response> {
  const reply = await fetch(address, { method, ...rest })
  const { headers } = reply
  const what = `${method} ${new URL(address).pathname} ${status}`
  t.equal(reply.status, status, what)
  const replied = { status, headers, body: await reply.clone().text() }
  // A method that the path lacks has the error of the documented one.
  const { pathname } = new URL(address)
  const path = Object.keys(openApi.document.paths).find((pattern) =>
    new RegExp(`^${pattern.replace('{id}', '[^/]+')}$`).test(pathname),
  )!
  const known = openApi.document.paths[path]!
  const documented =
    method.toLowerCase() in known ? method.toLowerCase() : Object.keys(known).at(-1)!
  t.equal(openApi.replyErrors(documented, path, replied), '', what)
  return reply
}

t.test('it has exactly the routes of the server', (t) =>
  withServer({}, async ({ url, handlers }) => {
    const { document } = await fetchOpenApi(url)
    t.strictSame(Object.keys(document.paths).sort(), [...handlers.paths].sort())
  }),
)

t.test('every route takes its own method, and names it to others', (t) =>
  withFake({}, async ({ url, key, decider }) => {
    const openApi = await fetchOpenApi(url)
    const [model] = decider.models
    for (const { path: pattern, method, operation } of openApi.operations) {
      const path = pattern.replace('{id}', model!.name)
      const other = method === 'get' ? 'POST' : 'GET'
      const reply = await expect(t, openApi, url + path, 405, { method: other })
      t.match(reply.headers.get('allow'), method.toUpperCase())

      const headers = operation.security.length === 0 ? {} : { authorization: `Bearer ${key}` }
      if (method === 'get') await expect(t, openApi, url + path, 200, { headers })
      if (operation.security.length > 0) {
        await expect(t, openApi, url + path, 401, { method: method.toUpperCase() })
      }
    }
  }),
)

t.test('its examples get documented answers', (t) =>
  withFake({}, async (server) => {
    const sent = await sendExamples(t, server, server.decider.card.modalities)
    for (const name of ['noul', 'choice', 'score', 'mixed', 'image', 'imageUrl']) {
      t.ok(sent.includes(`systemOne ${name}`), name)
    }
  }),
)

t.test('a request refused for its content is refused as documented', (t) =>
  withFake({ maxBodyBytes: 1000 }, async ({ url, key }) => {
    const openApi = await fetchOpenApi(url)
    const address = `${url}/v1/systemone`
    const json = headersOf(key)
    const post = (status: number, body: string, headers: Record<string, string> = json) =>
      expect(t, openApi, address, status, { method: 'POST', headers, body })
    await post(200, body)
    await post(400, body, headersOf(key, { 'content-type': 'text/plain' }))
    await post(400, body.replace('{', '{"model":"nope",'))
    await post(401, body, { 'content-type': 'application/json' })
    await post(413, ' '.repeat(1001))
    await post(422, '{')
    await post(422, '{}')
  }),
)

t.test('every other end of a request is as documented', async (t) => {
  for (const [code, status] of [
    ['ERR_BALANCE', 402],
    ['ERR_RATE_LIMIT', 429],
    ['ERR_CONCURRENCY', 429],
    ['ERR_ENGINE_INTERNAL', 500],
    ['ERR_OVERLOADED', 503],
    ['ERR_TIMEOUT', 504],
  ] as const satisfies readonly (readonly [ErrorCode, number])[]) {
    const failing = stubDecider(() => Promise.reject(new OiError(code, 'no')))
    await withFake({ decider: failing }, async ({ url, key }) => {
      const sent = { method: 'POST', headers: headersOf(key), body }
      await expect(t, await fetchOpenApi(url), `${url}/v1/systemone`, status, sent)
    })
  }
})

t.test('while the model is loaded, 503 is as documented', (t) => {
  const backend: Backend = { state: () => 'loading', decider: () => undefined }
  return withFake({ backend }, async ({ url, key }) => {
    const openApi = await fetchOpenApi(url)
    const headers = headersOf(key)
    await expect(t, openApi, `${url}/readyz`, 503)
    await expect(t, openApi, `${url}/v1/models`, 503, { headers })
    await expect(t, openApi, `${url}/v1/systemone`, 503, { method: 'POST', headers, body })
  })
})

t.test('the headers of a limited workspace are documented, with and without an error', (t) => {
  const left = {
    'x-ratelimit-limit-requests': '6000',
    'x-ratelimit-remaining-requests': '5999',
    'x-ratelimit-reset-requests': '1',
    'x-ratelimit-limit-concurrent': '64',
    'x-ratelimit-remaining-concurrent': '63',
  }
  const admission: Admission = { ...openAdmission, headers: () => Object.entries(left).flat() }
  return withFake({ admission }, async ({ url, key }) => {
    const openApi = await fetchOpenApi(url)
    const headers = headersOf(key)
    for (const [status, text] of [
      [200, body],
      [422, '{}'],
    ] as const) {
      const sent = { method: 'POST', headers, body: text }
      const reply = await expect(t, openApi, `${url}/v1/systemone`, status, sent)
      t.match(Object.fromEntries(reply.headers), left)
    }
    await expect(t, openApi, `${url}/v1/models`, 200, { headers })
  })
})

t.test('a reply that differs from the document is detected', (t) =>
  withServer({}, async ({ url }) => {
    const openApi = await fetchOpenApi(url)
    const reply = await fetch(`${url}/healthz`)
    const good = { status: 200, headers: reply.headers, body: await reply.text() }
    const errors = (changed: Partial<typeof good>) =>
      openApi.replyErrors('get', '/healthz', { ...good, ...changed })
    const without = new Headers(good.headers)
    without.delete('server-timing')
    const more = new Headers([...good.headers, ['x-more', '1']])
    const odd = new Headers([...good.headers, ['x-request-id', 'a b']])
    t.equal(errors({}), '')
    t.match(errors({ status: 418 }), 'status 418')
    t.match(errors({ body: '{"status":"ill"}' }), 'const')
    t.match(errors({ headers: without }), 'server-timing is missing')
    t.match(errors({ headers: more }), 'x-more is not known')
    t.match(errors({ headers: odd }), 'pattern')
    t.match(errors({ headers: new Headers({ 'content-type': 'text/html' }) }), 'text/html')
  }),
)
