/** Bookings that leave memory for spools while the accounts cannot be written. */
import t, { type Test } from 'tap'
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Booking } from '../../src/accounts/ledger/booking.js'
import { Pending } from '../../src/accounts/ledger/pending.js'
import { Spilling } from '../../src/accounts/ledger/spilling.js'
import { findSpools } from '../../src/accounts/ledger/spool.js'
import { removeOldParts } from '../../src/accounts/ledger/spool-files.js'
import { bookingOf } from '../helpers/booking.js'
import { setVariable } from '../helpers/data-folder.js'
import { until } from '../helpers/until.js'

const booking = (cost: number) => bookingOf(1, cost)

const place = { owner: '/data' }

/** @param stateDir - Where spools go first; the temporary folder is next. */
function begin(t: Test, stateDir = t.testdir()) {
  for (const name of ['XDG_STATE_HOME', 'TMPDIR']) setVariable(t, name, stateDir)
  const pending = new Pending()
  const log: string[] = []
  const stuck = { ms: 0 }
  let written = () => {}
  const spilling = new Spilling({
    ...{ place, pending, log: (text) => log.push(text), stuckForMs: () => stuck.ms },
    takesAll: () => false,
    onWritten: () => written(),
  })
  t.teardown(() => spilling.close())
  /** Resolves when the next spool is complete or has failed. */
  const next = () => new Promise<void>((resolve) => (written = resolve))
  return { spilling, pending, log, stuck, next, folder: join(stateDir, 'oi') }
}

const costsIn = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => (JSON.parse(line) as Booking).cost)

t.test('a writer that is stuck for less than 400 ms makes no spool', async (t) => {
  const { spilling, pending, stuck } = begin(t)
  pending.keep(booking(1))
  for (stuck.ms of [0, 399]) spilling.look()
  t.equal(spilling.answers, 0)
  t.equal(pending.answers, 1)
})

t.test('what is in a spool counts until it is taken in, and is told once', async (t) => {
  const { spilling, pending, stuck, next, log, folder } = begin(t)
  stuck.ms = 400
  pending.keep(booking(1))
  const first = next()
  spilling.look()
  pending.keep(booking(2))
  spilling.look()
  t.equal(pending.answers, 1, 'one spool is written at a time')
  t.equal(spilling.answers, 1, 'also on its way')
  await first
  const second = next()
  spilling.look()
  await second
  t.equal(pending.answers, 0)
  const paths = spilling.announce()
  t.strictSame(paths.map(costsIn), [[1], [2]])
  t.strictSame(spilling.announce(), [])
  spilling.announceAgain()
  t.strictSame(spilling.announce(), paths)
  t.strictSame(new Set(findSpools(place)), new Set(paths))
  t.strictSame(findSpools({ owner: '/other' }), [])
  t.strictSame(log, [`While the accounts cannot be written, usage is kept in ${folder}`])

  const costs = (count: number) =>
    [...spilling.bookings((ids) => new Set(ids.slice(0, count)))].map(({ cost }) => cost)
  t.strictSame(costs(0), [1, 2])
  t.strictSame(costs(1), [2], 'the file has the other already')
  spilling.forget([paths[0]!])
  t.equal(spilling.answers, 1)
})

t.test('bookings that no folder takes wait again', async (t) => {
  const { spilling, pending, stuck, next } = begin(t, join(t.testdir({ file: '' }), 'file'))
  stuck.ms = 1000
  pending.keep(booking(1))
  const done = next()
  spilling.look()
  await done
  t.equal(spilling.answers, 0)
  const costs = [...pending].map(({ cost }) => cost)
  t.strictSame(costs, [1])
})

t.test('the end completes the spool under way', async (t) => {
  const { spilling, pending, stuck, log, folder } = begin(t)
  stuck.ms = 1000
  pending.keep(booking(1))
  spilling.look()
  spilling.close()
  t.match(log, [/^The usage of 1 answer could not be written\. The next start takes it in: /])
  const [again] = readdirSync(folder).filter((name) => name.endsWith('-again.jsonl'))
  t.strictSame(costsIn(join(folder, again!)), [1])
  // The one under way: the folder can be removed after it.
  await until(() => readdirSync(folder).filter((name) => name.endsWith('.jsonl')).length === 2)
})

t.test('parts of spools whose writer was killed are removed after an hour', async (t) => {
  const { folder } = begin(t, t.testdir({ oi: {} }))
  const names = ['oi-accounts-1.jsonl.part', 'oi-accounts-2.jsonl.part', 'oi-accounts-3.jsonl', 'x']
  for (const name of names) writeFileSync(join(folder, name), '{"oi":"acc')
  const longAgo = new Date(Date.now() - 3_700_000)
  for (const i of [0, 2, 3]) utimesSync(join(folder, names[i]!), longAgo, longAgo)
  removeOldParts(place)
  t.strictSame(readdirSync(folder).sort(), names.slice(1))
})
