/**
 * nginx, HAProxy and Caddy in front of the server: with their default settings, and with the
 * configurations that operators copy (scripts/deploy/proxies).
 */
import t, { type Test } from 'tap'
import { createServer } from 'node:http'
import { exchange } from '../../scripts/faults/exchange.js'
import { deployed } from '../helpers/deployed-proxies.js'
import { certificate, send, textOf } from '../helpers/https.js'
import {
  type Configuration,
  findProxy,
  plain,
  type ProxyName,
  startProxy,
} from '../helpers/proxies.js'
import { createTrustedProxies } from '../../src/http/access/client-address.js'
import { batchPath, linesType, post } from '../helpers/asking.js'
import { numbers, requestsAbout } from '../helpers/batch.js'
import { decision, stubDecider, type StubOptions, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'
import { vacantPort } from '../helpers/vacant-port.js'

const requests = 2000
const clients = 16

/** A skipped test names the missing proxy. */
const without = (name: ProxyName) => ({
  skip: findProxy(name) === undefined && `${name} is not installed`,
})

/** A health check would find the server of a test away that replies 503 to all. */
const withoutChecks =
  (name: 'nginx' | 'haproxy'): Configuration =>
  (options) =>
    plain[name](options).replace(' check inter 500ms', '')

interface Front {
  readonly port: number
  readonly key: string
  readonly log: readonly string[]
}

/** A server and a proxy in front of it. */
async function through(
  t: Test,
  [name, configuration]: readonly [ProxyName, Configuration],
  options: StubOptions,
  use: (front: Front) => Promise<void>,
): Promise<void> {
  await withServer(options, async ({ port: serverPort, key, log }) => {
    const port = await vacantPort()
    const folder = t.testdir()
    const proxy = await startProxy(name, configuration, { folder, port, serverPort })
    try {
      await use({ port, key, log })
    } finally {
      await proxy.stop()
    }
  })
}

for (const name of ['nginx', 'haproxy'] as const) {
  t.test(
    `${name}: its reply in the place of a server is told from a reply without an id`,
    without(name),
    async (t) => {
      const server = createServer((_request, reply) => {
        reply.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{}}')
      })
      const serverPort = await vacantPort()
      const port = await vacantPort()
      const proxy = await startProxy(name, withoutChecks(name), {
        ...{ folder: t.testdir(), port, serverPort },
      })
      const ask = () => exchange({ port, path: '/v1/systemone', body: '{}' })
      try {
        t.match(await ask(), { status: /^50[23]$/, hasId: false, isProxys: true })
        await new Promise<void>((resolve) => server.listen(serverPort, '127.0.0.1', resolve))
        await until(async () => (await ask()).body === '{"error":{}}')
        t.match(await ask(), { status: 503, hasId: false, isProxys: false })
      } finally {
        await proxy.stop()
        server.close()
      }
    },
  )

  t.test(
    `${name}: ${requests} requests through its default settings are all answered`,
    without(name),
    (t) =>
      through(t, [name, plain[name]], {}, async ({ port, key }) => {
        const url = `http://127.0.0.1:${port}`
        const counts = new Map<number, number>()
        const ask = async () => {
          for (let i = 0; i < requests / clients; i++) {
            const reply = await post({ url, key })
            await reply.arrayBuffer()
            counts.set(reply.status, (counts.get(reply.status) ?? 0) + 1)
          }
        }
        await Promise.all(Array.from({ length: clients }, ask))
        t.strictSame([...counts], [[200, requests]])
        t.equal((await fetch(`${url}/v1/models`)).status, 401)
      }),
  )
}

for (const name of ['nginx', 'haproxy', 'caddy'] as const) {
  const proxy = [name, deployed(name, certificate)] as const
  const trustedProxies = createTrustedProxies('127.0.0.1')

  t.test(
    `${name} as deployed: HTTPS, large bodies, and no route of the operator`,
    without(name),
    (t) =>
      through(t, proxy, { trustedProxies }, async (front) => {
        t.equal((await send(front, { path: '/healthz' })).statusCode, 200)
        const body = JSON.stringify({ state: 'x'.repeat(3_000_000) })
        const asked = await send(front, { path: '/v1/systemone', body })
        t.equal(asked.statusCode, 200)
        t.match(await textOf(asked), /"noul":0\.75/)
        const tooLarge = await send(front, { path: '/v1/systemone', body: ' '.repeat(5_000_000) })
        t.equal(tooLarge.statusCode, 413)
        t.match(await textOf(tooLarge), /payload_too_large/, 'the server says so, not the proxy')
        for (const path of ['/metrics', '/admin', '/admin/v1/keys', '/console', '/console/']) {
          const hidden = await send(front, { path })
          t.equal(hidden.statusCode, 404, path)
          hidden.resume()
        }
        t.notMatch(front.log.join('\n'), /\/(?:metrics|admin|console)/)
      }),
  )

  t.test(`${name} as deployed: wrong keys are counted by client`, without(name), (t) =>
    through(t, proxy, { trustedProxies }, async (front) => {
      const guess = (from: string, i: number) =>
        send(front, {
          ...{ path: '/v1/models', from },
          headers: {
            authorization: `Bearer oi-${String(i).padStart(43, '0')}`,
            // A client's own header counts for nothing.
            'x-forwarded-for': `203.0.113.${i}`,
          },
        })
      for (let i = 0; i < 20; i++) {
        const reply = await guess('127.0.0.2', i)
        t.equal(reply.statusCode, 401)
        t.equal(reply.headers['retry-after'], undefined)
      }
      t.ok((await guess('127.0.0.2', 21)).headers['retry-after'], 'it has guessed too often')
      t.notOk((await guess('127.0.0.3', 22)).headers['retry-after'], 'another one has not')
    }),
  )

  t.test(`${name} as deployed: a line of a batch arrives before the others`, without(name), (t) => {
    const ends: (() => void)[] = []
    const decider = stubDecider(() => new Promise((resolve) => ends.push(() => resolve(decision))))
    return through(t, proxy, { trustedProxies, decider }, async (front) => {
      const asked = send(front, {
        path: batchPath,
        headers: { accept: linesType },
        body: JSON.stringify(requestsAbout(numbers(3))),
      })
      await until(() => ends.length === 3)
      ends[1]!()
      const reply = await asked
      let text = ''
      reply.setEncoding('utf8').on('data', (part: string) => (text += part))
      await until(() => text.includes('\n'))
      t.match(JSON.parse(text) as object, { index: 1, status: 200 })
      ends[0]!()
      ends[2]!()
      await until(() => reply.complete)
      t.equal(text.trimEnd().split('\n').length, 4)
    })
  })
}
