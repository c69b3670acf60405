/**
 * Connections: clients that leave, deadlines, and the end of the server.
 */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { post } from '../helpers/asking.js'
import { about, postBatch, requestsAbout } from '../helpers/batch.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { noStats } from '../../src/engine/stats.js'
import { Slow, stubDecider, type StubServer, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

const ask = ({ key }: StubServer, id: string) =>
  request('POST', '/v1/systemone', { authorization: `Bearer ${key}`, 'x-request-id': id }, '{}')

t.test('a client that leaves aborts its decision, and no other one', async (t) => {
  const slow = new Slow()
  await withServer({ decider: stubDecider(slow.decide) }, async (server) => {
    const leaver = await RawClient.connect(server.port)
    leaver.send(ask(server, 'leaver'))
    await until(() => slow.signals.length === 1)
    using stayer = await RawClient.connect(server.port)
    stayer.send(ask(server, 'stayer'))
    await until(() => slow.signals.length === 2)
    leaver.socket.destroy()
    await until(() => slow.signals[0]!.aborted)
    t.match(slow.signals[0]!.reason, { code: 'ERR_ABORTED' })
    t.notOk(slow.signals[1]!.aborted)
    slow.release()
    t.equal((await stayer.reply()).status, 200)
  })
})

t.test('a late request is told how fast its model is, and how much it had to do', async (t) => {
  const slow = new Slow()
  const stats = { ...noStats(), tokensPerSecond: 150.4, queuedTokens: 3400 }
  const decider = {
    ...stubDecider(slow.decide),
    engines: () => [
      { model: 'stub', replica: 0, stats },
      { model: 'stub', replica: 1, stats },
      { model: 'another', stats },
    ],
  }
  await withServer({ decider, deadlineMs: 50 }, async (server) => {
    const known = 'stub evaluates 301 tokens a second, and had 6800 to do: about 23 s more'
    for (const reply of [
      await post(server, about('a')),
      await postBatch(server, requestsAbout(['a'])),
    ]) {
      t.match(await reply.text(), `within 50 ms; ${known}"`)
    }
  })
})

t.test('the deadline answers 504 and aborts the decision', async (t) => {
  const slow = new Slow()
  await withServer({ decider: stubDecider(slow.decide), deadlineMs: 100 }, async (server) => {
    using first = await RawClient.connect(server.port)
    first.send(ask(server, 'first'))
    await until(() => slow.signals.length === 1)
    await sleep(50)
    using second = await RawClient.connect(server.port)
    const startMs = performance.now()
    second.send(ask(server, 'second'))
    await until(() => slow.signals.length === 2)
    const { status, body } = await first.reply()
    t.equal(status, 504)
    t.match(JSON.parse(body), { error: { code: 'timeout', message: /100 ms$/ } })
    t.ok(slow.signals[0]!.aborted)
    // If this thread stood still, the second request's time may be over too; it must not end
    // earlier.
    const { aborted } = slow.signals[1]!
    t.ok(!aborted || performance.now() - startMs >= 99)
    t.equal((await second.reply()).status, 504)
    t.ok(performance.now() - startMs >= 99)
    slow.release()
    first.send(request('GET', '/healthz'))
    t.equal((await first.reply()).status, 200, 'the late decision was not written')
  })
})

t.test(
  'closing: running requests finish, new ones get 503, idle connections just end',
  async (t) => {
    const slow = new Slow()
    await withServer({ decider: stubDecider(slow.decide) }, async (server) => {
      const [busy, open, idle] = await Promise.all([
        RawClient.connect(server.port),
        RawClient.connect(server.port),
        RawClient.connect(server.port),
      ])
      busy.send(ask(server, 'busy'))
      await until(() => slow.signals.length === 1)
      const closed = server.server.close(5000)
      t.equal(server.server.close(5000), closed, 'closing again is the same closing')

      open.send(ask(server, 'late'))
      const refused = await open.reply()
      t.equal(refused.status, 503)
      t.match(refused.headers, { connection: 'close', 'retry-after': '1' })
      await open.closed
      await t.rejects(RawClient.connect(server.port), 'no new connection')

      slow.release()
      t.equal((await busy.reply()).status, 200)
      await closed
      await idle.closed
      t.pass('the idle connection did not hold it up')
    })
  },
)

t.test('closing: after the grace period running requests get 503', async (t) => {
  const slow = new Slow()
  await withServer({ decider: stubDecider(slow.decide) }, async (server) => {
    const client = await RawClient.connect(server.port)
    client.send(ask(server, 'endless'))
    await until(() => slow.signals.length === 1)
    await server.server.close(50)
    t.ok(slow.signals[0]!.aborted)
    t.equal((await client.reply()).status, 503)
    await client.closed
  })
})
