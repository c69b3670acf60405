/** Bookings while the file cannot be written, and bookings with an unknown outcome. */
import t, { type Test } from 'tap'
import Sqlite from 'better-sqlite3'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Accounts } from '../../src/accounts/accounts.js'
import { pack } from '../../src/accounts/ledger/booking.js'
import { Shared } from '../../src/accounts/ledger/shared.js'
import { keepForNextStart, realFolder } from '../../src/accounts/ledger/spool.js'
import { StoreWriter } from '../../src/accounts/ledger/store-writer.js'
import { audit, isBalanced } from '../helpers/audit.js'
import { bookingOf } from '../helpers/booking.js'
import { dataFolder, setVariable } from '../helpers/data-folder.js'
import { until } from '../helpers/until.js'

function open(t: Test) {
  const dataDir = dataFolder(t)
  const log: string[] = []
  const accounts = new Accounts({ dataDir, busyMs: 0, log: (text) => log.push(text) })
  t.teardown(() => accounts.close())
  const { id } = accounts.workspaces.create('default')
  return { accounts, dataDir, id, log }
}

t.test('a group that was written without confirmation is not written twice', async (t) => {
  const { accounts, dataDir, id } = open(t)
  accounts.credits.add(id, 1000)
  const writer = new StoreWriter(dataDir, new Shared())
  t.teardown(() => writer.close())
  const group = { first: 1, bookings: pack([bookingOf(id, 20), bookingOf(id, 30)]), used: [] }
  t.match(writer.handle({ ...group, askOnly: true, spools: [] }), { outcome: 'failed' })
  t.match(writer.handle({ ...group, askOnly: false, spools: [] }), { outcome: 'committed' })
  t.match(writer.handle({ ...group, askOnly: true, spools: [] }), { outcome: 'committed' })
  t.match(audit(dataDir), { booked: 2, cost: 50, balance: 950 })
  t.ok(isBalanced(audit(dataDir)))
})

t.test('a group that is withdrawn during the write is not in the file', async (t) => {
  const { accounts, dataDir, id } = open(t)
  accounts.credits.add(id, 1000)
  const shared = new Shared()
  const writer = new StoreWriter(dataDir, shared)
  t.teardown(() => writer.close())
  const group = {
    first: 1,
    bookings: pack([bookingOf(id, 20)]),
    used: [],
    askOnly: false,
    spools: [],
  }
  t.ok(shared.withdraw())
  t.match(writer.handle(group), { outcome: 'withdrawn' })
  t.match(audit(dataDir), { booked: 0, balance: 1000 })
  shared.beginGroup()
  t.match(writer.handle(group), { outcome: 'committed' })
  t.notOk(shared.withdraw(), 'it is too late')
  t.match(audit(dataDir), { booked: 1, balance: 980 })
})

t.test('while the file is busy bookings wait, and are written afterwards', async (t) => {
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

t.test(
  'a booking that cannot be written within a second is refused, and never charged',
  async (t) => {
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
  },
)

t.test('a clock that jumps neither loses nor moves a booking', async (t) => {
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
  const { usedMs } = accounts.keys.list()[0]!
  t.ok(Math.abs(usedMs! - real()) < 60_000, 'a use in the future does not stay')
})

/** Values that SQLite refuses at every try. */
const impossible = {
  'a part of a token': { inputTokens: 1.5 },
  'no number': { outputTokens: NaN },
  'a cost beyond all': { cost: 1e300 },
  'an infinite time': { timeMs: Infinity },
  'no text': { model: null as unknown as string },
}

for (const [name, value] of Object.entries(impossible)) {
  t.test(`a booking with ${name} is set aside, and delays no others`, async (t) => {
    const { accounts, dataDir, id, log } = open(t)
    accounts.credits.add(id, 1000)
    const bad = { ...bookingOf(id, 5), ...value }
    const booked = [bookingOf(id, 1), bad, bookingOf(id, 2), bookingOf(id, 3)].map((booking) =>
      accounts.ledger.book(booking, true)!,
    )
    await Promise.all(booked)
    await accounts.ledger.book(bookingOf(id, 4), true)
    t.match(audit(dataDir), { booked: 4, cost: 10, balance: 990 })
    t.ok(isBalanced(audit(dataDir)))
    t.equal(accounts.ledger.health.figures.setAside, 1)
    t.match(accounts.check(), { faults: [], setAside: 1 })
    t.match(log, [/^1 booking could not be made, and is kept in the table set_aside/])
    t.notOk(accounts.trouble())
    const db = new Sqlite(join(dataDir, 'accounts.db'))
    t.teardown(() => db.close())
    const { booking, reason } = db.prepare('SELECT * FROM set_aside').get() as Record<
      string,
      string
    >
    const [key, set] = Object.entries(value)[0]!
    t.match(JSON.parse(booking!), {
      workspaceId: id,
      [key]: set === null || Number.isFinite(set) ? set : String(set),
    })
    t.ok(reason)
  })
}

t.test('free bookings beside a booking that cannot be added up stay whole', async (t) => {
  const { accounts, dataDir, id } = open(t)
  for (const inputTokens of [7, NaN, 8]) {
    void accounts.ledger.book({ ...bookingOf(id, 0), inputTokens }, false)
  }
  t.ok(accounts.ledger.flush())
  t.match(audit(dataDir), { usedRequests: 2 })
  t.equal(accounts.check().setAside, 1)
})

t.test('bookings of a workspace that does not exist are set aside', async (t) => {
  const { accounts, id, log } = open(t)
  await Promise.all([
    accounts.ledger.book(bookingOf(99, 5), true)!,
    accounts.ledger.book(bookingOf(id, 5), true)!,
    accounts.ledger.book(bookingOf(98, 5), true)!,
  ])
  t.equal(accounts.check().setAside, 2)
  t.match(log, [/^2 bookings could not be made, .*: there is no workspace 98$/])
})

t.test('a spool with an impossible booking is taken in, and that booking set aside', (t) => {
  const { accounts, dataDir, id, log } = open(t)
  accounts.credits.add(id, 1000)
  accounts.close()
  const state = t.testdir({ oi: { 'oi-accounts-damaged.jsonl': '{"oi":"acc' } })
  setVariable(t, 'XDG_STATE_HOME', state)
  const bookings = [bookingOf(id, 1), { ...bookingOf(id, 2), inputTokens: 0.5 }, bookingOf(id, 3)]
  keepForNextStart({ owner: realFolder(dataDir) }, bookings, () => {})
  const again = new Accounts({ dataDir, log: (text) => log.push(text) })
  t.teardown(() => again.close())
  again.ledger.start()
  t.ok(again.ledger.flush())
  return until(() => again.check().setAside === 1).then(() => {
    t.match(audit(dataDir), { booked: 2, cost: 4, balance: 996 })
    t.match(log.join('\n'), /usage of 3 answers has been taken in[^]*1 booking could not be made/)
    t.strictSame(readdirSync(join(state, 'oi')), ['oi-accounts-damaged.jsonl'])
  })
})
