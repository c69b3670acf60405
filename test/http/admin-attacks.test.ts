/** Forged requests, planted sessions and other servers' cookies get nothing. */
import t from 'tap'
import { cookieName } from '../../src/admin/guard.js'
import { adminOperations } from '../../src/api/admin/operations.js'
import { AdminClient, password } from '../helpers/admin-client.js'
import { withAdmin } from '../helpers/admin-server.js'

t.test('every change needs the token of its own session', (t) =>
  withAdmin(t, {}, async ({ url, admin }) => {
    const changes = Object.values(adminOperations).filter(
      ({ method, needs }) => needs === 'csrf' && method !== 'get',
    )
    t.ok(changes.length > 15)
    const other = new AdminClient(t, url)
    await other.signIn()
    for (const { method, path } of changes) {
      const at = path.replaceAll(/\{\w+\}/g, '1')
      for (const token of ['', 'x', other.csrf]) {
        const sent = { body: '{}', headers: { 'x-oi-csrf': token } }
        const said = await admin.refused(403, 'forbidden', method.toUpperCase(), at, sent)
        t.match(said, 'x-oi-csrf')
      }
    }
    t.same((await admin.done<{ keys: unknown[] }>('GET', '/keys')).keys.length, 1)
  }),
)

t.test('a page of another origin changes nothing, and cannot sign in', (t) =>
  withAdmin(t, {}, async ({ url, admin }) => {
    const { host } = new URL(url)
    const body = { name: 'shop' }
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: `http://${host}`, 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'http://127.0.0.1:1' },
    ]) {
      await admin.refused(403, 'forbidden', 'POST', '/workspaces', { body, headers })
      const sent = { body: { password }, headers }
      await admin.refused(403, 'forbidden', 'POST', '/session', sent)
    }
    // A form cannot send JSON without a preflight, and no preflight is answered.
    const form = { body: { password }, headers: { 'content-type': 'text/plain' } }
    await admin.refused(400, 'invalid_request', 'POST', '/session', form)
    const asking = await fetch(`${url}/admin/v1/session`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    t.equal(asking.status, 405)
    t.notOk(asking.headers.get('access-control-allow-origin'))
    await admin.done('POST', '/workspaces', body)
    const headers = { origin: `http://${host}` }
    t.equal((await admin.ask('POST', '/workspaces', { body: { name: 'b' }, headers })).status, 200)
  }),
)

t.test('signing in never continues a planted session', (t) =>
  withAdmin(t, {}, async ({ url, admin }) => {
    // An attacker's session, one that never existed, and one that ended.
    const name = admin.cookie.split('=', 1)[0]
    for (const cookie of [`${name}=${'A'.repeat(43)}`, admin.cookie]) {
      const victim = new AdminClient(t, url)
      victim.cookie = cookie
      await victim.signIn()
      t.not(victim.cookie, cookie)
      const attacker = new AdminClient(t, url)
      attacker.cookie = cookie
      await attacker.refused(401, 'invalid_session', 'GET', '/session')
    }
  }),
)

t.test('two servers on one host have separate sessions in one browser', (t) =>
  withAdmin(t, {}, async (one) => {
    await withAdmin(t, {}, async (two) => {
      // A browser keeps one cookie of each name, and sends all of them to every port of a host.
      const jar = new Map<string, string>()
      const keep = ({ cookie }: AdminClient) => {
        const [name, value] = cookie.split('=', 2)
        jar.set(name!, value!)
      }
      keep(one.admin)
      keep(two.admin)
      const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
      for (const { admin } of [one, two]) {
        t.equal((await admin.ask('GET', '/session', { headers: { cookie } })).status, 200)
      }
    })
    // Behind a proxy that names no port.
    for (const [host, name] of [
      ['localhost', 'oi_admin'],
      ['[::1]', 'oi_admin'],
      ['[::1]:8080', 'oi_admin_8080'],
      ['oi.example:443;Domain=x', 'oi_admin'],
    ] as const) {
      t.equal(cookieName({ getHeader: () => host }), name)
    }
  }),
)
