/** HTTPS: answers, lines, `oi ask`, and unusable files. */
import t, { type Test } from 'tap'
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { root } from '../../scripts/build/paths.js'
import { readConfig } from '../../src/config.js'
import { CertificateWatch } from '../../src/http/transport/certificate-watch.js'
import { readTls } from '../../src/http/transport/tls.js'
import { batchPath, linesType } from '../helpers/asking.js'
import { numbers, readLines, requestsAbout } from '../helpers/batch.js'
import { ended, RunningCommand } from '../helpers/command.js'
import { decision, stubDecider, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const certFile = join(root, 'test/fixtures/localhost.pem')
const keyFile = join(root, 'test/fixtures/localhost-key.pem')
const tls = { certFile, keyFile }
const ca = readFileSync(certFile)

async function ask(
  url: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<{ status: number | undefined; text: string }> {
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request(url, { method, headers, ca, agent: false }, resolve)
    sent.once('error', reject)
    sent.end(body)
  })
  let text = ''
  for await (const part of reply.setEncoding('utf8')) text += part
  return { status: reply.statusCode, text }
}

t.test('answers and lines over HTTPS', async (t) => {
  const decider = stubDecider(async () => ({ ...decision, model: 'm'.repeat(50_000) }))
  await withServer({ tls, decider }, async ({ url, key }) => {
    t.match(await ask(`${url}/healthz`), { status: 200 })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    t.match(await ask(`${url}/v1/systemone`, headers, '{}'), { status: 200, text: /"noul":0\.75/ })
    t.match(await ask(`${url}/v1/models`), { status: 401 })
    const body = JSON.stringify(requestsAbout(numbers(256)))
    const lines = await ask(url + batchPath, { ...headers, accept: linesType }, body)
    t.equal(readLines(lines.text).results.length, 256)
  })
})

t.test('plain HTTP and old TLS get no answer', (t) =>
  withServer({ tls }, async ({ url, port }) => {
    await t.rejects(fetch(`http://127.0.0.1:${port}/healthz`))
    const refused = new Promise((resolve) => {
      const socket = connect({ port, ca, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })
      socket.once('secureConnect', () => resolve('connected'))
      socket.once('error', () => resolve('refused'))
    })
    t.equal(await refused, 'refused')
    t.match(await ask(`${url}/healthz`), { status: 200 })
  }),
)

t.test('oi serve prints https, and oi ask uses it if the certificate is trusted', async (t) => {
  const args = ['serve', '--model', 'stub.gguf', '--port', '0', '--data', t.testdir()]
  const files = ['--tls-cert', certFile, '--tls-key', keyFile]
  const server = new RunningCommand([...args, '--metrics-port', '0', ...files], 'instant')
  t.teardown(() => server.process.kill('SIGKILL'))
  const [, url] = await server.match(/Listening on (https:\/\/127\.0\.0\.1:\d+)/)
  const [, key] = await server.match(/^\s*(oi-[\w-]{43})$/m)
  await server.match(/^Ready$/m)
  const question = ['ask', 'x', '--noul', 'q=y', '--url', url!, '--key', key!]
  const trusting = new RunningCommand(question, 'fake', { NODE_EXTRA_CA_CERTS: certFile })
  t.match(await ended(trusting), { code: 0, stdout: /^q: yes/ })
  const doubting = new RunningCommand(question, 'fake')
  t.match(await ended(doubting), { code: 1, stderr: /Cannot reach https.*self-signed/ })
})

function filesIn(t: Test) {
  const dir = t.testdir({ empty: '', text: 'no PEM' })
  return (name: string) => join(dir, name)
}

t.test('unusable files are refused with their setting and path', async (t) => {
  const file = filesIn(t)
  for (const [files, message] of [
    [
      { certFile: file('none'), keyFile },
      /^--tls-cert: cannot read .*none: there is no such file$/,
    ],
    [{ certFile, keyFile: file('none') }, /^--tls-key: cannot read .*none: there is no such file$/],
    [{ certFile: file('.'), keyFile }, /^--tls-cert: cannot read .*: EISDIR/],
    [{ certFile: file('empty'), keyFile }, /^--tls-cert: expected a certificate in PEM form, got /],
    [{ certFile: file('text'), keyFile }, /^--tls-cert: expected a certificate/],
    [{ certFile: keyFile, keyFile }, /^--tls-cert: expected a certificate/],
    [{ certFile, keyFile: file('text') }, /^--tls-key: expected a private key .* in PEM form/],
    [{ certFile, keyFile: certFile }, /^--tls-key: expected a private key/],
  ] as const) {
    t.throws(() => readTls(files), { code: 'ERR_CONFIG', message })
  }
  t.doesNotThrow(() => readTls(tls))
})

// BUG: a FIFO in its place froze the server until its other end was opened.
t.test('a certificate whose file has become a FIFO stays as it is', async (t) => {
  const pipe = join(t.testdir(), 'cert.pem')
  execFileSync('mkfifo', [pipe])
  const notices: string[] = []
  const watch = new CertificateWatch({
    files: () => ({ certFile: pipe, keyFile }),
    use: () => t.fail('it is used'),
    notice: (text) => notices.push(text),
    everyMs: 10,
  })
  t.teardown(() => watch.stop())
  await until(() => notices.length > 0)
  t.match(notices, [/^The certificate stays as it is: .*cert\.pem is a FIFO, expected a file$/])
})

t.test('a key of another certificate is refused', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const dir = t.testdir({ 'key.pem': privateKey.export({ type: 'pkcs8', format: 'pem' }) })
  const other = join(dir, 'key.pem')
  t.throws(() => readTls({ certFile, keyFile: other }), {
    code: 'ERR_CONFIG',
    message: `--tls-key: ${other} does not belong to ${certFile}`,
  })
})

t.test('oi serve ends with 2 before the model is loaded', async (t) => {
  const file = filesIn(t)
  const args = ['serve', '--model', 'stub.gguf', '--port', '0', '--data', file('data')]
  const files = ['--tls-cert', file('text'), '--tls-key', keyFile]
  const { code, stderr } = await ended(new RunningCommand([...args, ...files], 'instant'))
  t.equal(code, 2)
  t.match(stderr, /^oi: --tls-cert: expected a certificate in PEM form/)
  t.notMatch(stderr, 'Loading')
})

t.test('one file without the other is refused, naming the missing one', async (t) => {
  for (const [flags, message] of [
    [{ tlsCert: 'a.pem' }, /^--tls-key: expected a file, as --tls-cert needs it$/],
    [{ tlsKey: 'a.pem' }, /^--tls-cert: expected a file, as --tls-key needs it$/],
  ] as const) {
    t.throws(() => readConfig({}, flags), { code: 'ERR_CONFIG', message })
  }
  const { tlsCert, tlsKey } = readConfig({ OI_TLS_CERT: 'a' }, { tlsKey: 'b' })
  t.strictSame([tlsCert, tlsKey], ['a', 'b'])
})
