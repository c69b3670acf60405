import t from 'tap'
import { execFileSync } from 'node:child_process'
import { withServer } from '../helpers/stub.js'

t.test('a wrong key gives 401, with the scheme to send, before any other check', (t) =>
  withServer({}, async ({ url }) => {
    for (const [path, init] of [
      ['/v1/models', {}],
      ['/v1/systemone', { method: 'POST', body: '{' }],
    ] as const) {
      const headers = { 'content-type': 'text/plain', authorization: `Bearer oi-${'a'.repeat(42)}` }
      const reply = await fetch(url + path, { ...init, headers })
      t.equal(reply.status, 401)
      t.equal(reply.headers.get('www-authenticate'), 'Bearer')
    }
  }),
)

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
