/** A client that has closed its sending side, with a reply that is long or comes in parts. */
import t from 'tap'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { batchPath, linesType } from '../helpers/asking.js'
import { requestsAbout } from '../helpers/batch.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { decision, Slow, stubDecider, type StubServer, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const transports = ['uws', 'node'] as const
/** More than a connection buffers if it is not read. */
const longName = 'm'.repeat(12_000_000)

for (const transport of transports) {
  t.test(`${transport}: nothing comes between the parts of its reply`, async (t) => {
    const decider = stubDecider(async () => {
      await sleep(350)
      return decision
    })
    await withServer({ transport, decider }, async (server) => {
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
      let text = ''
      socket.on('data', (data) => (text += data.toString('latin1')))
      const body = JSON.stringify(requestsAbout([1, 2, 3, 4, 5]))
      const headers = { ...authorization(server), accept: linesType }
      socket.end(request('POST', batchPath, headers, body))
      await until(() => socket.readableEnded || text.endsWith('\r\n0\r\n\r\n'))
      socket.destroy()
      const begin = text.indexOf('HTTP/1.1 200')
      t.ok(begin >= 0)
      t.notMatch(text.slice(begin + 1), /HTTP\/1\.1/, 'an interim reply comes before it only')
    })
  })

  t.test(`${transport}: nothing comes into a long reply that it reads slowly`, async (t) => {
    const decider = stubDecider(async () => ({ ...decision, model: longName }))
    await withServer({ transport, decider }, async (server) => {
      const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
      const chunks: Buffer[] = []
      socket.on('data', (data) => chunks.push(data)).pause()
      socket.end(request('POST', '/v1/systemone', authorization(server), '{}'))
      // The server would have checked several times whether the client is still there.
      await sleep(700)
      socket.resume()
      await once(socket, 'end')
      const text = Buffer.concat(chunks).toString('latin1')
      const begin = text.indexOf('HTTP/1.1 200')
      t.equal(text.lastIndexOf('HTTP/1.1'), begin)
      const length = Number(/^content-length: (\d+)/im.exec(text.slice(begin))?.[1])
      t.equal(text.length - text.indexOf('\r\n\r\n', begin) - 4, length)
    })
  })

  t.test(`${transport}: a client that has gone before its reply costs no descriptor`, async (t) => {
    // Between the interim reply and the look at what came of it: a faults run ended with one
    // descriptor more for each such client.
    const decider = stubDecider(async () => {
      await sleep(180)
      return decision
    })
    await withServer({ transport, decider }, async (server) => {
      const open = () => readdirSync('/proc/self/fd').length
      const before = open()
      const leave = async () => {
        const { socket } = await RawClient.connect(server.port)
        socket.write(request('POST', '/v1/systemone', authorization(server), '{}'))
        await sleep(20)
        socket.destroy()
      }
      await Promise.all(Array.from({ length: 40 }, leave))
      const limit = performance.now() + 5000
      while (open() > before && performance.now() < limit) await sleep(20)
      t.ok(open() - before < 10, `${open() - before} descriptors are left`)
    })
  })

  t.test(`${transport}: its connection's descriptor may soon be another client's`, async (t) => {
    const slow = new Slow()
    const decider = stubDecider(async (...asked) => ({
      ...(await slow.decide(...asked)),
      model: longName,
    }))
    await withServer({ transport, decider }, async (server) => {
      const gone = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
      // It reads nothing of its reply.
      gone.pause()
      gone.on('error', () => {})
      gone.end(request('POST', '/v1/systemone', authorization(server), '{}'))
      await until(() => slow.signals.length === 1)
      await sleep(20)
      slow.release()
      // The reply does not fit, so the connection is polled again, and reports its end again.
      await sleep(60)
      gone.resetAndDestroy()
      await once(gone, 'close')
      const others = await Promise.all(
        Array.from({ length: 8 }, () => RawClient.connect(server.port)),
      )
      // The watch over departed clients would look again within this time.
      await sleep(500)
      for (const other of others) {
        other.send(request('GET', '/healthz'))
        t.equal((await other.reply()).status, 200)
        other.socket.destroy()
      }
    })
  })
}

const authorization = ({ key }: StubServer) => ({ authorization: `Bearer ${key}` })
