/** What is known of the replies to requests that a client sends before it has those before them. */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { Unconfirmed } from '../../src/http/transport/unconfirmed.js'
import { decidePath, headersOf } from '../helpers/asking.js'
import { withPaying } from '../helpers/paying.js'
import { RawClient, request } from '../helpers/raw-client.js'
import { until } from '../helpers/until.js'

for (const transport of ['uws', 'node'] as const) {
  t.test(
    `${transport}: of requests sent at once whose replies were lost, each repetition is free, once`,
    (t) =>
      withPaying({ transport }, async ({ requests, port, key, ask }) => {
        const bodies = ['{"a":1}', '{"a":2}', '{"a":3}']
        const client = await RawClient.connect(port)
        client.socket.pause()
        client.send(
          bodies.map((body) => request('POST', decidePath, headersOf(key, {}), body)).join(''),
        )
        await until(() => requests() === bodies.length)
        await sleep(20)
        client.socket.resetAndDestroy()
        await sleep(50)
        const again = { 'x-typesafe-retry-count': '1' }
        for (const charged of ['0', null]) {
          for (const body of bodies) t.match(await ask(again, body), { status: 200, charged }, body)
        }
        t.equal(requests(), 2 * bodies.length)
      }),
  )

  t.test(
    `${transport}: a request that waited shows that the replies to early ones have arrived`,
    (t) =>
      withPaying({ transport }, async ({ requests, port, key, ask }) => {
        const bodies = ['{"a":1}', '{"a":2}']
        const asking = (body: string) => request('POST', decidePath, headersOf(key, {}), body)
        const client = await RawClient.connect(port)
        client.send(bodies.map(asking).join(''))
        for (const body of bodies) t.equal((await client.reply()).status, 200, body)
        client.socket.pause()
        client.send(asking('{"b":1}'))
        await until(() => requests() === 3)
        await sleep(20)
        client.socket.resetAndDestroy()
        await sleep(50)
        const again = { 'x-typesafe-retry-count': '1' }
        for (const body of bodies) t.match(await ask(again, body), { charged: null }, body)
        t.match(await ask(again, '{"b":1}'), { charged: '0' })
        t.equal(requests(), 5)
      }),
  )
}

t.test(
  'a connection keeps what is unconfirmed of few requests, and nothing once it has ended',
  (t) => {
    const told: string[] = []
    const add = (name: string) =>
      unconfirmed.add({
        arrived: () => told.push(`${name} arrived`),
        abandon: () => told.push(`${name} lost`),
      })
    const unconfirmed = new Unconfirmed()
    add('first')
    unconfirmed.next(true)
    add('early')
    t.same(told, [])
    unconfirmed.next(false)
    t.same(told.splice(0), ['first arrived', 'early arrived'])
    add('last')
    unconfirmed.end(true)
    unconfirmed.end(true)
    t.same(told.splice(0), ['last lost'])
    for (let i = 0; i < 1000; i++) {
      unconfirmed.next(true)
      add('one of many')
    }
    t.ok(told.length > 900, 'arrived')
    unconfirmed.end(false)
    t.equal(told.length, 1000)
    t.end()
  },
)
