/** Who may use the admin API, and who may not. */
import t from 'tap'
import { request } from 'node:http'
import { createTrustedProxies } from '../../src/http/access/client-address.js'
import { AdminClient, password } from '../helpers/admin-client.js'
import { withAdmin } from '../helpers/admin-server.js'

interface Session {
  readonly csrf_token: string
  readonly expires_at: string
}

const json = { 'content-type': 'application/json' }

t.test('signing in sets a cookie that no script and no other page can use', (t) =>
  withAdmin(t, { signedIn: false }, async ({ accounts, admin, url }) => {
    t.match(
      await admin.refused(401, 'invalid_password', 'POST', '/session', { body: { password } }),
      /no password yet.*oi admin password/,
    )
    const token = accounts.admin.createLink()!
    t.equal(accounts.admin.createLink(), undefined, 'the link is made once')
    const first = { token, password }
    const reply = await admin.ask<Session>('POST', '/session/first', { body: first })
    t.equal(reply.status, 200)
    t.match(reply.headers.getSetCookie(), [
      /^oi_admin_\d+=[\w-]{43}; Path=\/admin; HttpOnly; SameSite=Strict$/,
      /^oi_admin_\d+_known=[\w-]{43}; Path=\/admin; HttpOnly; SameSite=Strict; Max-Age=31536000$/,
    ])
    t.equal(reply.headers.get('cache-control'), 'no-store')
    admin.csrf = reply.body.csrf_token
    t.match(await admin.done('GET', '/session'), reply.body)
    const another = new AdminClient(t, url)
    await another.refused(401, 'invalid_password', 'POST', '/session/first', { body: first })
    await another.signIn()
    t.not(another.cookie, admin.cookie)
  }),
)

t.test('without a session, or with an API key, everything is refused', (t) =>
  withAdmin(t, {}, async ({ url, key, admin }) => {
    const outside = new AdminClient(t, url)
    const paths = ['/workspaces', '/keys', '/usage', '/models', '/prices', '/settings', '/audit']
    for (const path of [...paths, '/server', '/session', '/workspaces/1/ledger']) {
      await outside.refused(401, 'invalid_session', 'GET', path)
      const headers = { authorization: `Bearer ${key}` }
      await outside.refused(401, 'invalid_session', 'GET', path, { headers })
      const cookie = `${admin.cookie.split('=', 1)[0]}=${key.slice(3)}`
      await outside.refused(401, 'invalid_session', 'GET', path, { headers: { cookie } })
    }
    const body = { state: 's', questions: {} }
    const headers = { authorization: `Bearer ${key}` }
    await outside.refused(401, 'invalid_session', 'POST', '/decide', { body, headers })
    t.equal((await outside.ask('GET', '/openapi.json')).status, 200)
    // And a session is worth nothing to routes for keys.
    for (const path of ['/v1/models', '/v1/usage', '/v1/systemone']) {
      const method = path === '/v1/systemone' ? 'POST' : 'GET'
      const sent = { cookie: admin.cookie, 'x-oi-csrf': admin.csrf, ...json }
      const reply = await fetch(url + path, { method, headers: sent })
      t.equal(reply.status, 401, path)
      t.equal(reply.headers.get('www-authenticate'), 'Bearer')
    }
  }),
)

t.test('the cookie alone, which other ports of the host are sent, gives no token', (t) =>
  withAdmin(t, {}, async ({ admin, url }) => {
    const other = new AdminClient(t, url)
    other.cookie = admin.cookie
    await other.refused(401, 'invalid_session', 'GET', '/session')
    await other.refused(403, 'forbidden', 'POST', '/workspaces', { body: { name: 'theirs' } })
    other.csrf = 'guessed'
    await other.refused(401, 'invalid_session', 'GET', '/session')
    t.match(await admin.done('GET', '/session'), { csrf_token: admin.csrf })
  }),
)

t.test('signing out ends the session, and a new password ends all of them', (t) =>
  withAdmin(t, {}, async ({ url, admin }) => {
    const { cookie } = admin
    const out = await admin.ask('DELETE', '/session')
    t.equal(out.status, 204)
    t.match(out.headers.getSetCookie(), [/^oi_admin_\d+=; Path=\/admin; .*Max-Age=0$/])
    admin.cookie = cookie
    await admin.refused(401, 'invalid_session', 'GET', '/session')

    await admin.signIn()
    const other = new AdminClient(t, url)
    await other.signIn()
    const change = { current: password, new: 'another password' }
    const wrong = { current: 'a wrong password', new: 'another password' }
    await admin.refused(401, 'invalid_password', 'PUT', '/password', { body: wrong })
    const short = { current: password, new: 'short' }
    await admin.refused(422, 'invalid_request', 'PUT', '/password', { body: short })
    const before = admin.cookie
    const session = await admin.done<Session>('PUT', '/password', change)
    t.not(admin.cookie, before)
    admin.csrf = session.csrf_token
    await admin.done('POST', '/workspaces', { name: 'shop' })
    await other.refused(401, 'invalid_session', 'GET', '/session')
    const old = { body: { password } }
    await other.refused(401, 'invalid_password', 'POST', '/session', old)
    await other.signIn('another password')
  }),
)

t.test('a wrong password is throttled; so is the right one during the wait', (t) =>
  withAdmin(t, { signedIn: false }, async ({ accounts, url, admin }) => {
    const token = accounts.admin.createLink()!
    const session = await admin.done<Session>('POST', '/session/first', { token, password })
    admin.csrf = session.csrf_token
    const guesser = new AdminClient(t, url)
    const sent = { body: { password: 'a wrong password' } }
    for (let i = 0; i < 5; i++) {
      await guesser.refused(401, 'invalid_password', 'POST', '/session', sent)
    }
    const said = await guesser.refused(429, 'too_many_attempts', 'POST', '/session', sent)
    t.match(said, /try again in [12] seconds/)
    const good = { body: { password } }
    const late = await guesser.ask('POST', '/session', good)
    t.equal(late.status, 429)
    t.ok(Number(late.headers.get('retry-after')) >= 1)
    // Parallel tries are no way around: each counts from its beginning.
    await new Promise((resolve) => setTimeout(resolve, 2100))
    const many = await Promise.all([1, 2, 3, 4].map(() => guesser.ask('POST', '/session', sent)))
    t.strictSame(many.map(({ status }) => status).sort(), [401, 429, 429, 429])
    // Existing sessions go on, and a browser that has signed in before does not wait.
    await admin.done('GET', '/session')
    await admin.signIn()
    const { entries } = await admin.done<{ entries: object[] }>('GET', '/audit?limit=10')
    const wrong = entries.filter((entry) => Reflect.get(entry, 'action') === 'password.wrong')
    t.match(wrong, Array(6).fill({ actor: 'console', actor_detail: '127.0.0.1' }))
    t.equal(wrong.length, 6)
  }),
)

t.test('only this machine may sign in by default, whatever a proxy forwards', (t) =>
  withAdmin(t, {}, async ({ admin, url }) => {
    for (const headers of [
      { 'x-forwarded-for': '203.0.113.9' },
      { 'x-forwarded-for': '127.0.0.1' },
      { forwarded: 'for=127.0.0.1' },
      { via: '1.1 proxy' },
    ]) {
      const said = await admin.refused(403, 'forbidden', 'GET', '/session', { headers })
      t.match(said, /--admin loopback.*--trusted-proxies/)
    }
    // A name that resolves to this machine (DNS rebinding).
    const { hostname, port } = new URL(url)
    const status = await new Promise((resolve, reject) => {
      const path = '/admin/v1/openapi.json'
      const headers = { host: `evil.example:${port}` }
      request({ hostname, port, path, headers }, (reply) => resolve(reply.resume().statusCode))
        .on('error', reject)
        .end()
    })
    t.equal(status, 403)
  }),
)

t.test('behind a trusted proxy the client counts; over TLS the cookie is for TLS', async (t) => {
  const trustedProxies = createTrustedProxies('127.0.0.1')
  await withAdmin(t, { trustedProxies }, async ({ admin }) => {
    const far = { headers: { 'x-forwarded-for': '203.0.113.9' } }
    await admin.refused(403, 'forbidden', 'GET', '/session', far)
    // Of two proxies, the first had the client.
    for (const proto of ['https', 'https, http']) {
      const near = { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': proto }
      const reply = await admin.ask('POST', '/session', { body: { password }, headers: near })
      for (const cookie of reply.headers.getSetCookie()) t.match(cookie, /; Secure(?:;|$)/)
    }
  })
  await withAdmin(t, { trustedProxies, options: { mode: 'on' } }, async ({ admin }) => {
    const headers = { 'x-forwarded-for': '203.0.113.9', host: 'oi.example' }
    t.equal((await admin.ask('GET', '/session', { headers })).status, 200)
    await admin.done('POST', '/workspaces', { name: 'a' })
    const { entries } = await admin.done<{ entries: object[] }>('GET', '/audit?limit=1')
    t.match(entries, [{ action: 'workspace.create', actor: 'console', actor_detail: '127.0.0.1' }])
  })
})

t.test('unknown paths, methods and bodies are refused', (t) =>
  withAdmin(t, {}, async ({ admin }) => {
    for (const path of ['', '/nope', '/keys/0', '/keys/x', '/keys/1/2', '/models/%zz']) {
      await admin.refused(404, 'not_found', 'GET', path)
    }
    const reply = await admin.ask('PUT', '/keys/1', { body: {} })
    t.equal(reply.status, 405)
    t.equal(reply.headers.get('allow'), 'GET, HEAD, PATCH, DELETE')
    for (const [body, says] of [
      ['', /expected JSON/],
      ['{', /expected JSON/],
      ['[]', /body: expected an object, got an array/],
      [{}, /name: expected a text of 1 to 100 characters, got nothing/],
      [{ name: 7 }, /name: expected a text of 1 to 100 characters, got 7/],
      [{ name: 'a', limit: {} }, /unknown field limit: did you mean limits\?/],
      [{ name: 'a', limits: { concurent: 1 } }, /limits: unknown field concurent.*concurrent/],
      [{ name: 'a', limits: { concurrent: -1 } }, /limits.concurrent: expected an integer from 0/],
      [{ name: 'a', budget: { tokens: 0, period: 'day' } }, /budget.tokens: expected an integer/],
      [{ name: 'a', budget: { tokens: 1, period: 'year' } }, /budget.period: expected "day" or/],
    ] as const) {
      const said = await admin.refused(422, 'invalid_request', 'POST', '/workspaces', { body })
      t.match(said, says)
    }
    const long = { name: 'x'.repeat(1_100_000) }
    await admin.refused(413, 'payload_too_large', 'POST', '/workspaces', { body: long })
    for (const [query, says] of [
      ['limit=0', /limit: expected an integer from 1 to 1000/],
      ['limit=x', /limit: expected an integer/],
      ['before=1&before=2', /before: expected it once/],
      ['befor=1', /unknown field befor: did you mean before/],
    ] as const) {
      t.match(await admin.refused(400, 'invalid_request', 'GET', `/audit?${query}`), says)
    }
  }),
)
