import t from 'tap'
import { get } from '../helpers/asking.js'
import { oi } from '../helpers/command.js'
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
    withServer({}, async (server) => {
      t.equal((await get(server, '/v1/models')).status, 200)
      const { keyId, dataDir } = server
      t.equal((await oi(['keys', 'revoke', String(keyId), '--data', dataDir])).code, 0)
      const reply = await get(server, '/v1/models')
      t.equal(reply.status, 401)
      t.match(await reply.text(), /revoked/)
    }),
)
