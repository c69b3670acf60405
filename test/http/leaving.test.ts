/**
 * Replies to clients that read slowly or not at all, refusals of clients that still send, and the
 * end of the server meanwhile.
 */
import t from 'tap'
import { request as httpRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Decision } from '../../src/decide/types.js'
import { linesType } from '../helpers/asking.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { decision, Slow, stubDecider, type StubServer, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

/** A reply of about this many bytes. */
const answering = (bytes: number) =>
  stubDecider(async (): Promise<Decision> => ({ ...decision, model: 'm'.repeat(bytes) }))

/** A connection that is not read until the test reads it. */
async function openPaused(port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.pause()
  socket.on('error', () => {})
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write(text)
  return socket
}

/** Reads to the end, a little at a time. */
async function readSlowly(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = []
  let seen = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    seen += chunk.length
    if (seen > 4_000_000) {
      seen = 0
      await sleep(5)
    }
  }
  return Buffer.concat(chunks)
}

const bodyOf = (reply: Buffer) => reply.subarray(reply.indexOf('\r\n\r\n') + 4)

function asking({ key }: StubServer, path: string, body: string, accept = 'application/json') {
  return request('POST', path, { authorization: `Bearer ${key}`, accept }, body)
}

const batch = JSON.stringify({
  requests: [1, 2, 3].map((state) => ({
    state,
    questions: { q: { type: 'noul', instructions: 'Is it?' } },
  })),
})

for (const [name, bytes, path, body, accept] of [
  ['a small reply', 100, '/v1/systemone', '{}', 'application/json'],
  ['a large reply', 12_000_000, '/v1/systemone', '{}', 'application/json'],
  ['a batch', 5_000_000, '/v1/systemone/batch', batch, 'application/json'],
  ['a stream', 4_000_000, '/v1/systemone/batch', batch, linesType],
] as const) {
  t.test(`the end of the server waits until ${name} has left`, (t) =>
    withServer({ decider: answering(bytes) }, async (server) => {
      const socket = await openPaused(server.port, asking(server, path, body, accept))
      await until(() => server.handlers.traffic.requests().length > 0 || accept === linesType)
      await sleep(50)
      let closed = false
      const closing = server.server.close(20_000).then(() => (closed = true))
      if (bytes === 100) await closing
      else await sleep(100)
      t.equal(closed, bytes === 100)
      const reply = await readSlowly(socket)
      if (accept === linesType) {
        t.match(reply.toString('latin1', reply.length - 7), /\r\n0\r\n\r\n$/)
        t.ok(reply.length > 3 * bytes)
      } else {
        const length = Number(/content-length: (\d+)/i.exec(reply.toString('latin1', 0, 1000))![1])
        t.ok(length > bytes)
        t.equal(bodyOf(reply).length, length)
      }
      await closing
    }),
  )
}

t.test('a client that does not read delays the end by the limit at most', (t) =>
  withServer({ decider: answering(12_000_000) }, async (server) => {
    const socket = await openPaused(server.port, asking(server, '/v1/systemone', '{}'))
    await until(() => server.handlers.traffic.requests().length > 0)
    const startMs = performance.now()
    await server.server.close(300)
    const tookMs = performance.now() - startMs
    t.ok(tookMs >= 290 && tookMs < 5000, `${tookMs} ms`)
    socket.destroy()
  }),
)

t.test('a client that does not read is cut off, one that reads slowly is not', (t) =>
  withServer({ decider: answering(12_000_000), patienceMs: 400 }, async (server) => {
    const text = asking(server, '/v1/systemone', '{}')
    const silent = await openPaused(server.port, text)
    const slow = await openPaused(server.port, text)
    const read = (async () => {
      let bytes = 0
      for await (const chunk of slow as AsyncIterable<Buffer>) {
        const before = bytes
        bytes += chunk.length
        // Twice as slow in total as the limit for a client that does not read.
        if (Math.floor(bytes / 1_000_000) > Math.floor(before / 1_000_000)) await sleep(80)
        if (bytes > 12_000_000) break
      }
      return bytes
    })()
    t.ok((await read) > 12_000_000)
    await until(() => server.server.leaving === 0)
    // Bytes under way arrive; the rest does not.
    const got = await readSlowly(silent).catch(() => Buffer.alloc(0))
    t.ok(got.length < 12_000_000)
  }),
)

t.test('a client that sends its whole body before it reads sees its refusal', (t) =>
  withServer({}, async (server) => {
    for (const [path, key, status] of [
      ['/v1/systemone', server.key, 413],
      ['/v1/systemone/batch', server.key, 413],
      ['/v1/systemone', 'wrong', 401],
      ['/v1/nowhere', server.key, 404],
      ['/healthz', server.key, 405],
    ] as const) {
      const body = Buffer.alloc(8_000_000, 'x')
      const sent = httpRequest({
        ...{ port: server.port, host: '127.0.0.1', method: 'POST', path, agent: false },
        headers: { authorization: `Bearer ${key}`, 'content-length': body.length },
      })
      let early = false
      const replied = new Promise<number>((resolve, reject) => {
        sent.once('error', reject)
        sent.once('response', (response) => {
          response.resume()
          // Since Node 22 the end of the sent bytes is reported in the next turn.
          setImmediate(() => {
            early = !sent.writableFinished
            resolve(response.statusCode!)
          })
        })
      })
      sent.end(body)
      t.equal(await replied, status, path)
      t.notOk(early, 'not before all of it was read')
    }
  }),
)

t.test('the bodies of all requests together have a limit: beyond it 503', (t) =>
  withServer({ maxBodyBytes: 1000, maxBodiesBytes: 2500, bodyTimeoutMs: 1500 }, async (server) => {
    const head = (length: number) =>
      request('POST', '/v1/systemone', {
        authorization: `Bearer ${server.key}`,
        'content-length': String(length),
      })
    const slow = await Promise.all([1, 2].map(() => RawClient.connect(server.port)))
    for (const client of slow) client.send(head(1000) + '{'.repeat(10))
    await until(() => server.handlers.bodies.heldBytes === 2000)
    const refused = await RawClient.connect(server.port)
    refused.send(head(600) + ' '.repeat(600))
    const reply = await refused.reply()
    t.equal(reply.status, 503)
    t.match(reply.headers['retry-after'], /^\d+$/)
    refused.send(head(2) + '{}')
    t.equal((await refused.reply()).status, 200)
    for (const client of slow) t.equal((await client.reply()).status, 408)
    t.equal(server.handlers.bodies.heldBytes, 0)
    for (const { socket } of [...slow, refused]) socket.destroy()
  }),
)

for (const transport of ['uws', 'node'] as const) {
  t.test(`${transport}: all requests of a lost connection are given up`, async (t) => {
    const slow = new Slow()
    await withServer({ decider: stubDecider(slow.decide), transport }, async (server) => {
      const client = await RawClient.connect(server.port)
      const text = asking(server, '/v1/systemone', '{}')
      // A request with a refused method is behind the others too.
      client.send(text + text + text + request('PUT', '/v1/systemone'))
      await until(() => slow.signals.length > 0)
      await sleep(50)
      client.socket.destroy()
      for (let i = 0; i < 300 && server.handlers.running.size > 0; i++) await sleep(10)
      t.ok(slow.signals.every((signal) => signal.aborted))
      t.equal(server.handlers.running.size, 0)
      t.equal(server.server.leaving, 0)
    })
  })
}
