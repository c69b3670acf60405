import t from 'tap'
import { execFileSync } from 'node:child_process'
import { withServer } from '../helpers/stub.js'

const malformed = `Bearer oi-${'a'.repeat(42)}`
const unknown = `Bearer oi-${'a'.repeat(43)}`

for (const [title, authorization] of [
  ['no key', undefined],
  ['another scheme', 'Basic dXNlcjpwYXNz'],
  ['a malformed key', malformed],
  ['an unknown key', unknown],
] as const) {
  t.test(`${title} gives 401 before any other check`, (t) =>
    withServer({}, async ({ url }) => {
      for (const [path, init] of [
        ['/v1/models', {}],
        ['/v1/systemone', { method: 'POST', body: '{' }],
      ] as const) {
        const headers = { 'content-type': 'text/plain', ...(authorization && { authorization }) }
        const reply = await fetch(url + path, { ...init, headers })
        t.equal(reply.status, 401)
        t.equal(reply.headers.get('www-authenticate'), 'Bearer')
        t.ok(reply.headers.get('x-request-id'))
        const body = (await reply.json()) as {
          error: { code: string; message: string }
          detail: string
        }
        t.equal(body.error.code, 'invalid_api_key')
        t.match(body.error.message, /send Authorization: Bearer <key>/)
        t.equal(body.detail, body.error.message)
      }
    }),
  )
}

t.test(
  'a key that another process revokes is refused at the next request of an open connection',
  (t) =>
    withServer({}, async ({ url, key, keyId, dataDir }) => {
      const headers = { authorization: `Bearer ${key}` }
      t.equal((await fetch(`${url}/v1/models`, { headers })).status, 200)
      const cli = new URL('../../src/cli/main.js', import.meta.url).pathname
      execFileSync(process.execPath, [cli, 'keys', 'revoke', String(keyId), '--data', dataDir])
      const reply = await fetch(`${url}/v1/models`, { headers })
      t.equal(reply.status, 401)
      t.match(await reply.text(), /revoked/)
    }),
)

t.test('keys and bodies never reach the log', (t) =>
  withServer({}, async ({ url, key, log }) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    await fetch(`${url}/v1/systemone`, { method: 'POST', headers, body: '{"state":"secret"}' })
    await fetch(`${url}/v1/systemone`, { method: 'POST', headers: { authorization: malformed } })
    const lines = log.join('')
    t.match(JSON.parse(log[0]!), {
      method: 'post',
      path: '/v1/systemone',
      status: 200,
      workspace: 'default',
    })
    t.notOk(lines.includes(key) || lines.includes('secret') || lines.includes('a'.repeat(16)))
  }),
)
