/**
 * Models pulled through redirects: where they may lead, and which servers get a token. In this
 * process, with random bytes for a model; no addon.
 */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { HubServer } from '../helpers/hub-server.js'
import { Puller, someBytes } from '../helpers/pull.js'

t.test('redirects are followed, and their targets are not kept', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const cdn = await HubServer.start(t)
  const bytes = someBytes(2)
  const signed = `${cdn.serve('/blob/1', bytes)}?signature=secret`
  hub.trouble = () => ({ status: 302, headers: { location: signed } })
  const { model } = await puller.gets(`${hub.origin}/m.gguf`, bytes)
  t.notMatch(JSON.stringify(model), /secret|blob/)
  t.equal(hub.transfers.length, cdn.transfers.length, 'each range begins at the first address')
  t.ok(cdn.asked.every(({ query }) => query === '?signature=secret'))
})

t.test('a failure after a redirect names the first address only', async (t) => {
  const { hub, puller } = await Puller.start(t)
  const cdn = await HubServer.start(t)
  const location = `${cdn.origin}/blob?signature=secret`
  hub.trouble = () => ({ status: 302, headers: { location } })
  for (const status of [403, 503]) {
    cdn.trouble = () => ({ status })
    const error = await puller.pull(`${hub.origin}/m.gguf`).catch((error: Error) => error)
    t.match(error, { code: 'ERR_PULL', message: `${hub.origin}/m.gguf answered ${status}` })
    t.notMatch(`${(error as Error).message}\n${puller.notes.join('\n')}`, /secret/)
  }
})

t.test('the number of redirects is limited', async (t) => {
  const { hub, puller } = await Puller.start(t)
  hub.trouble = () => ({ status: 307, headers: { location: '/again.gguf' } })
  await t.rejects(puller.pull(`${hub.origin}/m.gguf`), {
    code: 'ERR_PULL',
    message: /redirects more than 8 times/,
  })
  t.ok(hub.asked.length < 12)
})

for (const location of ['ftp://127.0.0.1/m', 'file:///etc/passwd', 'data:,x', 'http://']) {
  t.test(`no redirect leads to ${location}`, async (t) => {
    const { hub, puller } = await Puller.start(t)
    hub.trouble = () => ({ status: 302, headers: { location } })
    await t.rejects(puller.pull(`${hub.origin}/m.gguf`), { code: 'ERR_PULL', message: /redirects/ })
    t.equal(hub.asked.length, 1)
  })
}

t.test('from HTTPS, no redirect leads to HTTP', async (t) => {
  const fixture = (name: string) =>
    readFileSync(new URL(`../../../test/fixtures/${name}`, import.meta.url))
  const tls = { cert: fixture('localhost.pem'), key: fixture('localhost-key.pem') }
  const secure = await HubServer.start(t, tls)
  const { hub, puller } = await Puller.start(t)
  const bytes = someBytes(1)
  const target = hub.serve('/m.gguf', bytes)
  const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  await t.rejects(puller.pull(secure.serve('/n.gguf', bytes)), {
    code: 'ERR_PULL',
    message: /certificate/,
  })
  t.strictSame(puller.notes, [], 'it is not asked again')
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  try {
    await puller.gets(secure.serve('/n.gguf', bytes), bytes)
    secure.trouble = () => ({ status: 302, headers: { location: target } })
    await t.rejects(puller.pull(`${secure.origin}/m.gguf`), {
      code: 'ERR_PULL',
      message: /redirects to http:\/\/127\.0\.0\.1:\d+, which is not as safe: refused/,
    })
    t.equal(hub.asked.length, 0)
  } finally {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before
  }
})

t.test("a token goes to its own server, and to no redirect's target", async (t) => {
  const { hub, puller } = await Puller.start(t)
  const cdn = await HubServer.start(t)
  const bytes = someBytes(2)
  const location = cdn.serve('/blob', bytes)
  hub.trouble = () => ({ status: 302, headers: { location } })
  const token = { text: 'secret-token', origin: hub.origin }
  await puller.pull(`${hub.origin}/m.gguf`, { token })
  t.ok(hub.asked.every(({ headers }) => headers.authorization === 'Bearer secret-token'))
  t.ok(cdn.asked.length > 0 && cdn.asked.every(({ headers }) => !headers.authorization))

  // Not even if that target redirects back.
  cdn.trouble = ({ path }) =>
    path === '/back' ? { status: 302, headers: { location: `${hub.origin}/end` } } : undefined
  hub.trouble = ({ path }) =>
    path === '/o.gguf' ? { status: 302, headers: { location: `${cdn.origin}/back` } } : undefined
  hub.serve('/end', bytes)
  await puller.pull(`${hub.origin}/o.gguf`, { token })
  const ends = hub.asked.filter(({ path }) => path === '/end')
  t.ok(ends.length > 0 && ends.every(({ headers }) => !headers.authorization))

  await puller.pull(cdn.serve('/p.gguf', bytes), { token })
  t.ok(cdn.asked.every(({ headers }) => !headers.authorization))
})
