/** Bookings while the file cannot be written, and what nobody knows about them. */
import t, { type Test } from 'tap'
import Sqlite from 'better-sqlite3'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Accounts } from '../../src/accounts/accounts.js'
import { pack } from '../../src/accounts/booking.js'
import { Shared } from '../../src/accounts/shared.js'
import { StoreWriter } from '../../src/accounts/store-writer.js'
import { audit, isBalanced } from '../helpers/audit.js'
import { bookingOf } from '../helpers/booking.js'
import { dataFolder } from '../helpers/data-folder.js'
import { until } from '../helpers/until.js'

function open(t: Test) {
  const dataDir = dataFolder(t)
  const log: string[] = []
  const accounts = new Accounts({ dataDir, busyMs: 0, log: (text) => log.push(text) })
  t.teardown(() => accounts.close())
  const { id } = accounts.createWorkspace('default')
  return { accounts, dataDir, id, log }
}

t.test('a group that was written without anyone knowing is not written twice', async (t) => {
  const { accounts, dataDir, id } = open(t)
  accounts.credits.add(id, 1000)
  const writer = new StoreWriter(dataDir, new Shared())
  t.teardown(() => writer.close())
  const group = { first: 1, bookings: pack([bookingOf(id, 20), bookingOf(id, 30)]), used: [] }
  t.match(writer.handle({ ...group, askOnly: true }), { outcome: 'failed' })
  t.match(writer.handle({ ...group, askOnly: false }), { outcome: 'committed' })
  t.match(writer.handle({ ...group, askOnly: true }), { outcome: 'committed' })
  t.match(audit(dataDir), { booked: 2, cost: 50, balance: 950 })
  t.ok(isBalanced(audit(dataDir)))
})

t.test('a group that was withdrawn while it was written is not in the file', async (t) => {
  const { accounts, dataDir, id } = open(t)
  accounts.credits.add(id, 1000)
  const shared = new Shared()
  const writer = new StoreWriter(dataDir, shared)
  t.teardown(() => writer.close())
  const group = { first: 1, bookings: pack([bookingOf(id, 20)]), used: [], askOnly: false }
  t.ok(shared.withdraw())
  t.match(writer.handle(group), { outcome: 'withdrawn' })
  t.match(audit(dataDir), { booked: 0, balance: 1000 })
  shared.beginGroup()
  t.match(writer.handle(group), { outcome: 'committed' })
  t.notOk(shared.withdraw(), 'it is too late')
  t.match(audit(dataDir), { booked: 1, balance: 980 })
})

t.test('while the file is busy, bookings stay, and are written once it is not', async (t) => {
  const { accounts, dataDir, id } = open(t)
  accounts.credits.add(id, 1000)
  const blocker = new Sqlite(join(dataDir, 'accounts.db'))
  t.teardown(() => blocker.close())
  blocker.exec('BEGIN IMMEDIATE')
  let committed = false
  const booked = accounts.ledger.book(bookingOf(id, 7), true)!.then(() => (committed = true))
  await sleep(300)
  const later = accounts.ledger.book(bookingOf(id, 7), true)
  t.notOk(committed)
  t.equal(accounts.terms.of(id).balance, 986)
  blocker.exec('ROLLBACK')
  await Promise.all([booked, later])
  t.match(audit(dataDir), { booked: 2, balance: 986 })
  t.ok(isBalanced(audit(dataDir)))
})

t.test('what cannot be written within a second is refused, and never charged', async (t) => {
  const { accounts, dataDir, id, log } = open(t)
  accounts.credits.add(id, 1000)
  const blocker = new Sqlite(join(dataDir, 'accounts.db'))
  t.teardown(() => blocker.close())
  blocker.exec('BEGIN IMMEDIATE')
  const begunMs = performance.now()
  await t.rejects(accounts.ledger.book(bookingOf(id, 7), true)!, { code: 'ERR_OVERLOADED' })
  const ms = performance.now() - begunMs
  t.ok(ms > 900 && ms < 3000, `${ms} ms`)
  t.equal(accounts.terms.of(id).balance, 1000)
  await until(() => accounts.ledger.health.trouble !== undefined)
  t.match(accounts.trouble(), /locked/)
  void accounts.ledger.book(bookingOf(id, 11), false)
  blocker.exec('ROLLBACK')
  await until(() => accounts.trouble() === undefined && accounts.ledger.pendingAnswers === 0)
  await accounts.ledger.book(bookingOf(id, 5), true)
  t.match(audit(dataDir), { booked: 2, cost: 16, balance: 984 })
  t.ok(isBalanced(audit(dataDir)))
  t.match(log, [/cannot be written/, /can be written again/])
  t.equal(log.length, 2, 'said once each')
})

t.test('a clock that jumps loses and moves nothing', async (t) => {
  const { accounts, dataDir, id } = open(t)
  accounts.credits.add(id, 1000)
  const { secret } = accounts.createKey('default', 'k')
  const real = Date.now
  t.teardown(() => (Date.now = real))
  for (const hours of [0, 30, -30, 0]) {
    Date.now = () => real() + hours * 3_600_000
    accounts.authenticate(`Bearer ${secret}`)
    await accounts.ledger.book({ ...bookingOf(id, 10), timeMs: Date.now() }, true)
    t.ok(accounts.ledger.flush())
  }
  Date.now = real
  t.ok(isBalanced(audit(dataDir)))
  t.match(audit(dataDir), { booked: 4, balance: 960 })
  t.equal(
    accounts.usage('default').usage.reduce((sum, { requests }) => sum + requests, 0),
    4,
  )
  const { usedMs } = accounts.listKeys()[0]!
  t.ok(Math.abs(usedMs! - real()) < 60_000, 'a use in the future does not stay')
})
