/**
 * SIGHUP: settings that take effect, that are named, that are refused, while requests go on.
 *
 * Needs the built addon.
 */
import t from 'tap'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import type { Test } from 'tap'
import { root } from '../../scripts/build/paths.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { copyOfModel, Served } from '../helpers/served.js'

/** A settings file, and a function that writes it again. */
function settingsFile(t: Test, settings: object) {
  const folder = t.testdir({ 'oi.json': JSON.stringify(settings) })
  const path = join(folder, 'oi.json')
  const write = (next: object | string) =>
    writeFileSync(path, typeof next === 'string' ? next : JSON.stringify(next))
  return { folder, path, write, args: ['--config', path] }
}

/** Sends SIGHUP. @returns What the server logs about it. */
async function hangUp(served: Served, until = /SIGHUP: (?:nothing|the settings)[^"]*/) {
  const from = served.said.length
  served.server.child.kill('SIGHUP')
  await served.logged(until, from)
  return served.said.slice(from)
}

const long = 'It rains. '.repeat(100)

t.test('live settings take effect, and others are named', async (t) => {
  const file = settingsFile(t, { maxBodyBytes: 5000, host: '127.0.0.1' })
  const served = await Served.start(t, { model: 'fake', args: file.args })
  t.equal((await served.decide(long)).status, 200)

  file.write({ maxBodyBytes: 500, host: '0.0.0.0', corsOrigins: '*', drainMs: 1 })
  t.match(
    await hangUp(served),
    /changed corsOrigins, maxBodyBytes; only a new start changes host"/,
    'drainMs is a variable here, which wins',
  )
  t.equal((await served.decide(long)).status, 413)
  const { headers } = await served.decide('It rains.')
  t.equal(headers.get('access-control-allow-origin'), '*')

  t.match(await hangUp(served), /only a new start changes host"/, 'it still differs')
  file.write({ maxBodyBytes: 5000 })
  t.match(await hangUp(served), /read again; changed corsOrigins, maxBodyBytes"/)
  t.equal((await served.decide(long)).status, 200)
})

t.test('a mistake in the settings changes nothing', async (t) => {
  const file = settingsFile(t, { maxBodyBytes: 5000 })
  const served = await Served.start(t, { model: 'fake', args: file.args })
  for (const [content, message] of [
    [{ maxBodyBytes: 500, deadlineMs: 'soon' }, /nothing has changed: .*deadlineMs: expected an/],
    [{ maxBodyBytes: 500, deadlinesMs: 1 }, /unknown setting deadlinesMs: did you mean deadlineMs/],
    ['{"maxBodyBytes": 500', /nothing has changed: /],
    [{ maxBodyBytes: 500, trustedProxies: '10.0.0.0/8, 300.1.1.1' }, /nothing has changed: /],
  ] as const) {
    file.write(content)
    t.match(await hangUp(served), message)
    t.equal((await served.decide(long)).status, 200)
  }
})

for (const path of ['/admin/v1/session', '/v1/systemone', '/v1/systemone/batch']) {
  t.test(`${path}: requests begun before a reload and ended after it hang nothing`, async (t) => {
    const deadlineMs = 1500
    const file = settingsFile(t, { deadlineMs })
    const served = await Served.start(t, { model: 'fake', args: file.args })
    const { port } = new URL(served.server.url('/'))
    const head = request('POST', path, {
      ...served.headers,
      host: `localhost:${port}`,
      'content-length': '2',
    })
    const [gone, ended] = [await RawClient.connect(+port), await RawClient.connect(+port)]
    for (const client of [gone, ended]) client.send(`${head}{`)
    await sleep(100)
    file.write({ deadlineMs, maxBodyBytes: 5000 })
    t.match(await hangUp(served), /changed maxBodyBytes"/)
    gone.socket.destroy()
    ended.send('}')
    t.equal((await ended.reply()).status, 422)
    await sleep(2 * deadlineMs)
    const signal = AbortSignal.timeout(5000)
    t.equal((await fetch(served.server.url('/healthz'), { signal })).status, 200)
    ended.socket.destroy()
  })
}

/** A server that speaks HTTPS with files that a test replaces. */
async function serveTls(t: Test) {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  t.teardown(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'])
  const file = settingsFile(t, {})
  const [cert, key] = [join(file.folder, 'cert.pem'), join(file.folder, 'key.pem')] as const
  const use = (name: string, keyName = name) => {
    copyFileSync(join(root, `test/fixtures/${name}.pem`), cert)
    copyFileSync(join(root, `test/fixtures/${keyName}-key.pem`), key)
  }
  use('localhost')
  const tls = ['--tls-cert', cert, '--tls-key', key]
  const args = [...tls, ...file.args]
  const served = await Served.start(t, { model: 'fake', args, tls: true })
  const { port } = new URL(served.server.url('/'))
  const open = () =>
    new Promise<{ serial: string; socket: ReturnType<typeof connect> }>((resolve, reject) => {
      const socket = connect({ port: Number(port), host: '127.0.0.1', rejectUnauthorized: false })
      socket.once('secureConnect', () => {
        resolve({ serial: socket.getPeerCertificate().serialNumber, socket })
      })
      socket.once('error', reject)
    })
  return { served, use, open }
}

t.test('a renewed certificate is used for new connections', async (t) => {
  const { served, use, open } = await serveTls(t)
  const before = await open()
  use('renewed', 'localhost')
  t.match(await hangUp(served), /nothing has changed: --tls-key: .* does not belong to/)
  const between = await open()
  t.equal(between.serial, before.serial)
  // Meanwhile, models can be loaded and unloaded.
  await served.admin('models.load', { file: 'x.gguf', name: 'second' })
  t.strictSame(await served.models(), ['fake*', 'second'])
  use('renewed')
  t.match(await hangUp(served), /the settings have been read again/)
  const after = await open()
  t.not(after.serial, before.serial)

  // Open connections go on.
  before.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  let reply = ''
  for await (const part of before.socket.setEncoding('utf8')) reply += part as string
  t.match(reply, /^HTTP\/1\.1 200 /)
  for (const { socket } of [between, after]) socket.destroy()
})

t.test('a renewed certificate is used without a signal too', async (t) => {
  const { served, use, open } = await serveTls(t)
  const before = await open()
  const ends = await served.server.metric('oi_tls_certificate_expiry_timestamp_seconds')
  t.ok(ends > Date.now() / 1000)
  use('renewed')
  await served.logged(/The certificate was renewed: it ends on \d{4}-/)
  const after = await open()
  t.not(after.serial, before.serial)
  t.not(await served.server.metric('oi_tls_certificate_expiry_timestamp_seconds'), ends)
  use('renewed', 'localhost')
  await served.logged(/The certificate stays as it is: --tls-key: .* does not belong to/)
  const last = await open()
  t.equal(last.serial, after.serial)
  for (const { socket } of [before, after, last]) socket.destroy()
})

t.test('a calibration is read again, without a new process', async (t) => {
  const model = copyOfModel(t, 'own')
  const served = await Served.start(t, { args: ['--threads', '1', '--model', model] })
  const card = async () => {
    const reply = await fetch(served.server.url('/v1/models'), { headers: served.headers })
    const { models } = (await reply.json()) as {
      models: { digest: string; readout: string; calibration?: { data: string } }[]
    }
    return models[0]!
  }
  const { digest, readout, calibration } = await card()
  t.equal(calibration, undefined)
  const pids = await served.pids()
  const content = {
    ...{ format: 'oi-calibration@1', model: digest, readout, data: 'rows.jsonl' },
    ...{ date: '2026-01-31', observations: 2000, types: { noul: { temperature: 2.5 } } },
  }
  const path = `${model}.calibration.json`
  writeFileSync(path, JSON.stringify(content))
  await hangUp(served)
  t.match((await card()).calibration, { data: 'rows.jsonl' })

  writeFileSync(path, JSON.stringify({ ...content, model: 'sha256:another' }))
  t.match(await hangUp(served, /SIGHUP: the settings/), /SIGHUP: .*own.gguf.calibration.json/)
  t.match((await card()).calibration, { data: 'rows.jsonl' }, 'the one before is kept')
  t.strictSame(await served.pids(), pids)
})

t.test('models follow the settings, and no request fails', async (t) => {
  const [a, b, c] = ['a', 'b', 'c'].map((name) => copyOfModel(t, name)) as [string, string, string]
  const file = settingsFile(t, { threads: 1, models: [{ file: a }, { file: b }] })
  const served = await Served.start(t, { args: file.args })
  await served.admin('models.load', { file: copyOfModel(t, 'by-hand') })
  const [pidA, pidB] = await served.pids()
  const statuses = new Set<number>()
  let running = true
  t.teardown(() => (running = false))
  const clients = Array.from({ length: 8 }, async (_, client) => {
    for (let i = 0; running; i++) statuses.add((await served.decide(`${client} ${i}`)).status)
  })
  file.write({
    threads: 1,
    models: [
      { file: c, aliases: ['new'] },
      { file: a, contextTokens: 1024 },
    ],
  })
  await hangUp(served, /SIGHUP: the settings/)
  running = false
  await Promise.all(clients)
  t.strictSame(await served.models(), ['c*', 'a', 'by-hand'])
  t.strictSame([...statuses], [200])
  t.match(JSON.parse((await served.decide('It rains.', 'new')).body), { model: 'c' })
  const pids = await served.pids()
  t.notOk(pids.includes(pidA), 'another context is another process')
  t.throws(() => process.kill(pidB!, 0), { code: 'ESRCH' })

  file.write({ threads: 1, models: [{ file: c }, { file: join(file.folder, 'none.gguf') }] })
  t.match(await hangUp(served, /SIGHUP: the settings/), /SIGHUP: There is no model file/)
  t.strictSame(await served.models(), ['c*', 'by-hand'])
  t.equal((await served.decide('It rains.')).status, 200)
})
