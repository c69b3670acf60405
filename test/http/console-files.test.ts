/** The console's files: their names and their headers. */
import t, { type Test } from 'tap'
import { gunzipSync } from 'node:zlib'
import { withAdmin } from '../helpers/admin-server.js'
import { exchange, request } from '../helpers/raw-client.js'

const page =
  '<!doctype html><title>oi</title><script src="/console/assets/index-B1nQ2x3Y.js"></script>'
const script = `console.log(${JSON.stringify('ü'.repeat(3000))})\n`

const folder = (t: Test) =>
  t.testdir({
    console: {
      'index.html': page,
      'favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'notes.ts': 'not a file of the console',
      assets: { 'index-B1nQ2x3Y.js': script, 'index-C2oR3y4Z.css': 'body{}' },
    },
    'secret.html': 'outside',
  })

/** All bytes of a reply to a target that fetch() would change. */
async function fetchRaw(port: number, target: string, headers: Record<string, string> = {}) {
  const sent = request('GET', target, { host: 'localhost', connection: 'close', ...headers })
  const { text } = await exchange(port, sent, { quietMs: 5000 })
  return Buffer.from(text, 'latin1')
}

t.test('the page and its files have types and caching rules', (t) =>
  withAdmin(t, { options: { consoleFolder: `${folder(t)}/console` } }, async ({ url }) => {
    for (const [path, type, cache, text] of [
      ['/console', 'text/html; charset=utf-8', 'no-cache', page],
      ['/console/', 'text/html; charset=utf-8', 'no-cache', page],
      ['/console/assets/index-B1nQ2x3Y.js', 'text/javascript; charset=utf-8', /immutable/, script],
      ['/console/assets/index-C2oR3y4Z.css', 'text/css; charset=utf-8', /immutable/, 'body{}'],
      ['/console/favicon.svg', 'image/svg+xml', 'no-cache', /svg/],
    ] as const) {
      const reply = await fetch(url + path)
      t.equal(reply.status, 200, path)
      t.equal(reply.headers.get('content-type'), type)
      t.match(reply.headers.get('cache-control'), cache)
      t.match(await reply.text(), text)
      const head = await fetch(url + path, { method: 'HEAD' })
      t.equal(head.status, 200)
      t.equal(await head.text(), '')
    }
  }),
)

t.test('no page frames the console, and it runs only its own scripts', (t) =>
  withAdmin(t, { options: { consoleFolder: `${folder(t)}/console` } }, async ({ url, admin }) => {
    const reply = await fetch(`${url}/console`)
    const policy = reply.headers.get('content-security-policy')!
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"]) {
      t.ok(policy.split('; ').includes(part), part)
    }
    t.notMatch(policy, /unsafe|https?:|\*/)
    for (const { headers } of [reply, await admin.ask('GET', '/session')]) {
      t.match(Object.fromEntries(headers), {
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
    }
    t.match((await admin.ask('GET', '/nope')).headers.get('x-frame-options'), 'DENY')
  }),
)

t.test('clients that accept gzip get fewer bytes, and the same content', (t) =>
  withAdmin(t, { options: { consoleFolder: `${folder(t)}/console` } }, async ({ port }) => {
    const target = '/console/assets/index-B1nQ2x3Y.js'
    for (const encoding of ['gzip', 'identity']) {
      const bytes = await fetchRaw(port, target, { 'accept-encoding': encoding })
      const end = bytes.indexOf('\r\n\r\n')
      const [head, body] = [
        bytes.subarray(0, end).toString().toLowerCase(),
        bytes.subarray(end + 4),
      ]
      t.match(head, /^http\/1\.1 200/)
      t.match(head, 'vary: accept-encoding')
      const zipped = encoding === 'gzip'
      t.equal(head.includes('content-encoding: gzip'), zipped)
      t.equal((zipped ? gunzipSync(body) : body).toString(), script)
      if (zipped) t.ok(body.length < script.length / 2)
    }
  }),
)

t.test('no spelling of a path reaches files outside of the console', (t) =>
  withAdmin(t, { options: { consoleFolder: `${folder(t)}/console` } }, async ({ port }) => {
    for (const target of [
      '/console/../secret.html',
      '/console/%2e%2e/secret.html',
      '/console/..%2fsecret.html',
      '/console/%2e%2e%2fsecret.html',
      '/console/assets/../../secret.html',
      '/console/....//secret.html',
      '/console\\..\\secret.html',
      '/console//etc/passwd',
      '/console/index.html',
      '/console/notes.ts',
      '/console/__proto__',
      '/console/%00',
      '/consolex',
    ]) {
      const text = (await fetchRaw(port, target)).toString('latin1')
      t.match(text, /^HTTP\/1\.1 40[04] /, target)
      t.notMatch(text, /outside|root:/)
    }
  }),
)

t.test('a browser that asks for the bare address is sent to the console, a program is not', (t) =>
  withAdmin(t, { options: { consoleFolder: `${folder(t)}/console` } }, async ({ url }) => {
    const ask = (accept: string) => fetch(url, { headers: { accept }, redirect: 'manual' })
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    const reply = await ask(browser)
    t.equal(reply.status, 302)
    t.equal(reply.headers.get('location'), '/console')
    t.equal(await (await fetch(url, { headers: { accept: browser } })).text(), page)
    for (const accept of ['*/*', 'application/json', 'text/html;q=0, */*']) {
      t.equal((await ask(accept)).status, 404, accept)
    }
  }),
)

t.test('if the console was not built, the page says so, and the API works', (t) =>
  withAdmin(t, { options: { consoleFolder: t.testdir({}) } }, async ({ url, admin }) => {
    t.equal((await fetch(url, { headers: { accept: 'text/html' } })).status, 404)
    const reply = await fetch(`${url}/console`)
    t.equal(reply.status, 404)
    t.match(await reply.text(), /console was not built/)
    await admin.done('GET', '/session')
  }),
)
