/**
 * Retries are charged once: with a key of the caller, and, without, where the reply was lost. On
 * both transports, with a real ledger.
 */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { Accounts } from '../../src/accounts/accounts.js'
import type { Booking } from '../../src/accounts/ledger/booking.js'
import { OiError } from '../../src/errors.js'
import type { TransportName } from '../../src/http/server.js'
import { audit } from '../helpers/audit.js'
import { bookingOf } from '../helpers/booking.js'
import { linesType, decidePath, headersOf } from '../helpers/asking.js'
import { postBatch } from '../helpers/batch.js'
import { batchOf, cost, withPaying } from '../helpers/paying.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { decision, Slow, stubDecider, withServer } from '../helpers/stub.js'
import { until } from '../helpers/until.js'

t.test('with a key, the first answer is charged and later ones are not', (t) =>
  withPaying({}, async ({ ask, requests, accounts, dataDir }) => {
    const keyed = { 'idempotency-key': 'order 4711' }
    t.strictSame(await ask(), { status: 200, charged: null, code: undefined })
    t.match(await ask(keyed), { status: 200, charged: '1' })
    for (let i = 0; i < 3; i++) t.match(await ask(keyed), { status: 200, charged: '0' })
    t.match(await ask({ 'idempotency-key': 'order 4712' }), { charged: '1' })
    t.equal(requests(), 3)
    t.equal(audit(dataDir).balance, 1_000_000 - 3 * cost)
    t.match(accounts.ledgerPage({ workspaceId: 1, limit: 10 }).rows.length, 4, 'with the credit')
  }),
)

t.test('many at the same time are charged once', (t) =>
  withPaying({}, async ({ ask, requests }) => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => ask({ 'idempotency-key': 'same' })),
    )
    t.equal(all.filter(({ charged }) => charged === '1').length, 1)
    t.equal(all.filter(({ charged }) => charged === '0').length, 19)
    t.equal(requests(), 1)
  }),
)

t.test('a key counts although the clock is set back or on by a day meanwhile', (t) =>
  withPaying({}, async ({ ask, requests }) => {
    const real = Date.now
    t.teardown(() => (Date.now = real))
    for (const [i, hours] of [-25, 25].entries()) {
      const keyed = { 'idempotency-key': `order ${i}` }
      const changed = () => real() + hours * 3_600_000
      Date.now = changed
      t.match(await ask(keyed), { charged: '1' })
      Date.now = real
      t.match(await ask(keyed), { charged: '0' })
      Date.now = changed
      t.match(await ask(keyed), { charged: '0' })
    }
    t.equal(requests(), 2)
  }),
)

t.test('another body or decidePath under a key is refused, and costs nothing', (t) =>
  withPaying({}, async ({ ask, requests }) => {
    const keyed = { 'idempotency-key': 'k' }
    t.match(await ask(keyed, '{"a":1}'), { charged: '1' })
    const reused = { status: 422, code: 'idempotency_key_reused', charged: null }
    t.match(await ask(keyed, '{"a":2}'), reused)
    t.match(await ask(keyed, '{"a":1} '), reused)
    t.match(await ask(keyed, '{"requests":[{}]}', `${decidePath}/batch`), reused)
    t.match(await ask(keyed, '{"a":1}'), { status: 200, charged: '0' })
    t.equal(requests(), 1)
  }),
)

t.test('a malformed key is refused', (t) =>
  withServer({}, async ({ port, key }) => {
    for (const bad of ['x'.repeat(256), 'a\tb']) {
      using client = await RawClient.connect(port)
      client.send(
        Buffer.from(
          request('POST', decidePath, headersOf(key, { 'idempotency-key': bad }), '{}'),
          'latin1',
        ),
      )
      const { status, body } = await client.reply()
      t.equal(status, 400, bad.slice(0, 5))
      t.match(body, /Idempotency-Key: expected 1 to 255/)
    }
  }),
)

t.test('a refused request keeps no key', async (t) => {
  let fail = true
  const decider = stubDecider(async () => {
    if (fail) throw new OiError('ERR_OVERLOADED', 'full', { retryAfterMs: 1 })
    return decision
  })
  await withPaying({ decider }, async ({ ask, requests }) => {
    const keyed = { 'idempotency-key': 'k' }
    t.match(await ask(keyed, '{"a":1}'), { status: 503, charged: null })
    fail = false
    t.match(await ask(keyed, '{"b":1}'), { status: 200, charged: '1' }, 'a new request may have it')
    t.equal(requests(), 1)
  })
})

t.test('keys are of a workspace, and are known after a restart', async (t) => {
  const dataDir = t.testdir()
  const open = () => new Accounts({ dataDir })
  const keyed = (retry: object): Booking => ({
    ...bookingOf(1, 5),
    retry: {
      ...{ key: 'k', item: 0, request: 'r', untilMs: Date.now() + 60_000, answered: false },
      ...retry,
    },
  })
  let accounts = open()
  accounts.workspaces.create('a')
  accounts.workspaces.create('b')
  accounts.credits.add(1, 1000)
  t.equal(await accounts.ledger.book(keyed({}), true), true)
  accounts.close()
  accounts = open()
  t.ok(accounts.retryKeys.isKnown(1, 'k'))
  t.notOk(accounts.retryKeys.isKnown(2, 'k'))
  t.equal(await accounts.ledger.book(keyed({}), true), false)
  await t.rejects(accounts.ledger.book(keyed({ request: 'other' }), true)!, {
    code: 'ERR_IDEMPOTENCY_KEY',
  })
  t.equal(await accounts.ledger.book(keyed({ item: 1 }), true), true)
  t.equal(await accounts.ledger.book(keyed({ key: 'old', untilMs: 1 }), true), true)
  t.equal(await accounts.ledger.book(keyed({ key: 'old' }), true), true, 'it had expired')
  t.notOk(accounts.check().faults.length)
  t.equal(accounts.workspaces.get('a').balance, 1000 - 4 * 5)
  accounts.close()
})

t.test('a repetition is answered although the balance is used up, another request is not', (t) =>
  withPaying({}, async ({ ask, accounts, workspaceId }) => {
    const keyed = { 'idempotency-key': 'k' }
    t.match(await ask(keyed), { charged: '1' })
    accounts.credits.add(workspaceId, -2_000_000)
    t.match(await ask({ 'idempotency-key': 'new' }), { status: 402 })
    t.match(await ask(keyed), { status: 200, charged: '0' })
  }),
)

t.test('each item of a batch is charged once, in a reply or as lines', async (t) => {
  const failing = new Set([2])
  let asked = 0
  const decider = stubDecider(async () => {
    if (failing.has(asked++)) throw new OiError('ERR_REQUEST_UNACCEPTABLE', 'no')
    return decision
  })
  await withPaying({ decider }, async (server) => {
    const { requests } = server
    const send = async (accept: string) => {
      const reply = await postBatch(server, batchOf(4), { accept, 'idempotency-key': 'batch' })
      return { charged: reply.headers.get('x-oi-charged'), text: await reply.text() }
    }
    t.equal((await send('application/json')).charged, '1')
    t.equal(requests(), 3, 'the third failed')
    t.equal((await send(linesType)).charged, '1', 'for the third')
    t.equal(requests(), 4)
    const again = await send(linesType)
    t.equal(again.charged, '0')
    t.equal(again.text.match(/"status":200/g)?.length, 4)
    t.equal((await send('application/json')).charged, '0')
    t.equal(requests(), 4)
  })
})

for (const transport of ['auto', 'node'] as readonly TransportName[]) {
  t.test(`${transport}: a stream that is cut is charged for what was answered, once`, async (t) => {
    const slow = new Slow()
    let held = true
    const decider = stubDecider(async (asked, options) => {
      return held && slow.signals.length < 2 ? slow.decide(asked, options) : decision
    })
    await withPaying({ decider, transport }, async (server) => {
      const { requests, port, key } = server
      const keyed = headersOf(key, { accept: linesType, 'idempotency-key': 'cut' })
      const client = await RawClient.connect(port)
      client.send(request('POST', `${decidePath}/batch`, keyed, JSON.stringify(batchOf(6))))
      await until(() => requests() === 4)
      client.socket.resetAndDestroy()
      await until(() => slow.signals.every(({ aborted }) => aborted))
      held = false
      const reply = await postBatch(server, batchOf(6), { 'idempotency-key': 'cut' })
      t.equal(reply.headers.get('x-oi-charged'), '1')
      await reply.text()
      t.equal(requests(), 6)
    })
  })

  t.test(`${transport}: without a key, a repetition of a lost answer is free, once`, (t) =>
    withPaying({ transport }, async (server) => {
      const { requests, port, key, ask } = server
      const again = { 'x-typesafe-retry-count': '1' }
      const lose = async (body: string) => {
        const before = requests()
        const client = await RawClient.connect(port)
        // What is not read when it is closed makes the system reset the connection.
        client.socket.pause()
        client.send(request('POST', decidePath, headersOf(key, {}), body))
        await until(() => requests() === before + 1)
        await sleep(20)
        client.socket.resetAndDestroy()
        await sleep(50)
      }
      await lose('{"a":1}')
      t.match(await ask(again, '{"a":2}'), { status: 200, charged: null }, 'another body')
      t.match(await ask({}, '{"a":1}'), { status: 200, charged: null }, 'no repetition')
      t.equal(requests(), 3)
      t.match(await ask(again, '{"a":1}'), { status: 200, charged: '0' })
      t.equal(requests(), 3)
      t.match(await ask(again, '{"a":1}'), { status: 200, charged: null }, 'it has arrived')
      t.equal(requests(), 4)
    }),
  )

  t.test(`${transport}: a repetition is free whose client had gone before the reply`, (t) => {
    // Between the interim reply and the look at what came of it.
    const decider = stubDecider(async () => {
      await sleep(180)
      return decision
    })
    return withPaying({ transport, decider }, async ({ requests, port, key, ask }) => {
      const client = await RawClient.connect(port)
      client.send(request('POST', decidePath, headersOf(key, {}), '{"a":1}'))
      await sleep(20)
      client.socket.destroy()
      await until(() => requests() === 1)
      await sleep(400)
      t.match(await ask({ 'x-typesafe-retry-count': '1' }, '{"a":1}'), { charged: '0' })
      t.equal(requests(), 1)
    })
  })

  for (const [first, second] of [
    [150, 300],
    [400, 10],
  ] as const) {
    t.test(
      `${transport}: one of the two is charged if the repetition comes before the lost answer (after ${first} and ${second} ms)`,
      (t) => {
        let asked = 0
        const decider = stubDecider(async () => {
          await sleep(asked++ === 0 ? first : second)
          return decision
        })
        return withPaying({ transport, decider }, async ({ requests, port, key, ask }) => {
          const again = { 'x-typesafe-retry-count': '1' }
          const client = await RawClient.connect(port)
          client.send(request('POST', decidePath, headersOf(key, {}), '{"a":1}'))
          await sleep(50)
          client.socket.resetAndDestroy()
          await sleep(20)
          t.match(await ask(again, '{"a":1}'), { status: 200, charged: first < second ? '0' : '1' })
          await sleep(500)
          t.equal(requests(), 1)
          t.match(await ask(again, '{"a":1}'), { status: 200, charged: null }, 'it has arrived')
          t.equal(requests(), 2)
        })
      },
    )
  }

  t.test(`${transport}: an answer that arrived whole is charged again`, (t) =>
    withPaying({ transport }, async ({ requests, port, key, ask }) => {
      for (const end of ['end', 'another request'] as const) {
        const client = await RawClient.connect(port)
        client.send(request('POST', decidePath, headersOf(key, {}), '{"a":1}'))
        t.equal((await client.reply()).status, 200)
        if (end === 'end') client.socket.end()
        else {
          client.send(request('POST', decidePath, headersOf(key, {}), '{"b":1}'))
          await client.reply()
          client.socket.resetAndDestroy()
        }
        await sleep(50)
        t.match(await ask({ 'x-typesafe-retry-count': '1' }, '{"a":1}'), { charged: null }, end)
      }
      t.equal(requests(), 5)
    }),
  )
}
