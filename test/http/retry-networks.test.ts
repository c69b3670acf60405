/**
 * Retries are charged once where networks and servers fail: the official SDK behind a proxy that
 * cuts, and a server that is killed.
 */
import t from 'tap'
import { choice, noul, TypeSafeClient } from '@typesafe-ai/sdk'
import { setTimeout as sleep } from 'node:timers/promises'
import { Accounts } from '../../src/accounts/accounts.js'
import type { TransportName } from '../../src/http/server.js'
import { audit } from '../helpers/audit.js'
import { cuttingProxy } from '../helpers/cutting-proxy.js'
import { price, withPaying } from '../helpers/paying.js'
import { ServerProcess } from '../helpers/server-process.js'
import { post } from '../helpers/asking.js'

for (const transport of ['auto', 'node'] as readonly TransportName[]) {
  t.test(`${transport}: the official SDK through a proxy that cuts is charged once each`, (t) =>
    withPaying({ transport }, async ({ accounts, requests, port, key }) => {
      const proxy = await cuttingProxy(port)
      t.teardown(() => proxy.close())
      const client = new TypeSafeClient({
        baseURL: proxy.url,
        apiKey: key,
        retry: { maxRetries: 5, backoffInitialMs: 1, backoffMaxMs: 2 },
      })
      for (let i = 0; i < 30; i++) {
        const questions = { q: noul('Is it?'), c: choice('Which?', { a: '', b: '' }) }
        await client.systemOne({ state: `${i}`, questions })
      }
      t.ok(proxy.cuts > 15, `${proxy.cuts} cuts`)
      accounts.ledger.flush()
      t.equal(requests(), 30)
    }),
  )
}

t.test('killed between answer and reply, and started again: charged once', async (t) => {
  const dataDir = t.testdir()
  const accounts = new Accounts({ dataDir })
  const { secret } = accounts.createFirstKey()!
  accounts.prices.set('stub', price)
  accounts.credits.add(1, 1_000_000)
  const ask = (server: ServerProcess) =>
    post({ url: server.url(''), key: secret }, {}, { 'idempotency-key': 'killed' })
  let kills = 0
  let charged: string | null | undefined
  for (let waitMs = 0; kills < 4; waitMs += 4) {
    const server = await ServerProcess.start(t, { dataDir })
    const pending = ask(server).then(
      (reply) => reply.headers.get('x-oi-charged'),
      () => undefined,
    )
    await sleep(waitMs)
    server.child.kill('SIGKILL')
    charged = await pending
    await server.exited
    kills++
  }
  const server = await ServerProcess.start(t, { dataDir })
  const reply = await ask(server)
  t.comment(
    `${kills} kills, then charged: ${reply.headers.get('x-oi-charged')}, before: ${charged}`,
  )
  await server.stop()
  t.equal(accounts.usage('default').usage[0]!.requests, 1)
  t.equal(audit(dataDir).booked, 1)
  t.notOk(accounts.check().faults.length)
  accounts.close()
})
