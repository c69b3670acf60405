/** Bodies: their limit, their arrival in pieces, and bodies that never arrive whole. */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { Body } from '../../src/http/bodies/body.js'
import { batchPath } from '../helpers/asking.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { until } from '../helpers/until.js'
import { stubDecider, decision, type StubServer, withServer } from '../helpers/stub.js'

const maxBodyBytes = 5000
const path = '/v1/systemone'
const bearer = ({ key }: StubServer) => ({ authorization: `Bearer ${key}` })
const json = (length: number) => `{"a":"${'x'.repeat(length - 8)}"}`

t.test('a body is kept whole, however it was cut', async (t) => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251))
  for (const step of [1, 7, 16_384, 99_999, 100_000]) {
    const body = new Body(bytes.length)
    for (let i = 0; i < bytes.length; i += step) body.push(bytes.subarray(i, i + step))
    t.ok(bytes.equals(body.bytes), `parts of ${step}`)
    t.equal(body.push(bytes.subarray(0, 1)), false)
  }
})

const slices = (text: string, length: number) => text.match(new RegExp(`[^]{1,${length}}`, 'g'))!

/** A request with this body, as it is sent piece by piece. */
const arrivals: Readonly<Record<string, (server: StubServer, body: string) => string[]>> = {
  'in one piece': (server, body) => [request('POST', path, bearer(server), body)],
  'in pieces': (server, body) => slices(request('POST', path, bearer(server), body), 1000),
  chunked: (server, body) => [
    request('POST', path, { ...bearer(server), 'transfer-encoding': 'chunked' }),
    ...slices(body, 700).map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`),
    '0\r\n\r\n',
  ],
}

for (const [how, piecesOf] of Object.entries(arrivals)) {
  for (const [bytes, status] of [
    [maxBodyBytes, 200],
    [maxBodyBytes + 1, 413],
  ] as const) {
    t.test(`a body of ${bytes} bytes under a limit of ${maxBodyBytes}, ${how}`, (t) =>
      withServer({ maxBodyBytes }, async (server) => {
        using client = await RawClient.connect(server.port)
        for (const piece of piecesOf(server, json(bytes))) {
          client.send(piece)
          await sleep(5)
        }
        t.equal((await client.reply()).status, status)
        client.send(request('GET', '/healthz'))
        t.equal((await client.reply()).status, 200, 'the connection goes on')
      }),
    )
  }
}

t.test('an announced length over the limit is refused before the body', (t) =>
  withServer({ maxBodyBytes }, async (server) => {
    using client = await RawClient.connect(server.port)
    const startMs = performance.now()
    client.send(request('POST', path, { ...bearer(server), 'content-length': '5001' }))
    const { status, body } = await client.reply()
    t.equal(status, 413)
    t.ok(performance.now() - startMs < 7000)
    t.match(JSON.parse(body), { error: { code: 'payload_too_large', message: /5000 bytes/ } })
  }),
)

// uWebSockets.js 20.52 does not report the end of such a body if its head came in pieces: the
// request had no reply, and its connection closed after ten seconds.
t.test('no body, and one of no bytes, is an empty text, also if the head comes in pieces', (t) =>
  withServer({}, async (server) => {
    for (const length of [{}, { 'content-length': '0' }]) {
      const bytes = request('POST', path, { ...bearer(server), ...length })
      for (const cut of [0, 60, bytes.length - 4, bytes.length - 1]) {
        using client = await RawClient.connect(server.port)
        client.send(bytes.slice(0, cut))
        await sleep(20)
        client.send(bytes.slice(cut))
        t.equal((await client.reply()).status, 422, `cut at ${cut}`)
        client.send(request('GET', '/healthz'))
        t.equal((await client.reply()).status, 200, 'the connection goes on')
      }
    }
  }),
)

t.test('an upload that is cut leaves nothing behind', async (t) => {
  let asked = 0
  const decider = stubDecider(async () => {
    asked++
    return decision
  })
  await withServer({ decider }, async (server) => {
    for (const [i, at] of [path, batchPath].entries()) {
      const client = await RawClient.connect(server.port)
      client.send(request('POST', at, { ...bearer(server), 'content-length': '100' }) + 'half')
      await until(() => server.handlers.running.size > 0)
      client.socket.destroy()
      await until(() => server.handlers.running.size === 0)
      t.equal(asked, 0)
      t.match(JSON.parse(server.log[i]!), { status: 0, path: at })
    }
  })
})
