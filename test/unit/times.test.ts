/** Days and times that people type: exact, or refused. */
import t from 'tap'
import { readDay, readTime } from '../../src/api/times.js'

const january = Date.UTC(2026, 0, 31)
const hour = 3_600_000

t.test('a day is its begin in UTC, a time is itself', async (t) => {
  t.equal(readDay('2026-01-31'), january)
  t.equal(readDay('2028-02-29'), Date.UTC(2028, 1, 29))
  t.equal(readDay('2000-02-29'), Date.UTC(2000, 1, 29))
  for (const [text, ms] of [
    ['2026-01-31', january],
    ['2026-01-31T00:00Z', january],
    ['2026-01-31T12:00:00Z', january + 12 * hour],
    ['2026-01-31T23:59:59.999Z', january + 24 * hour - 1],
    ['2026-01-31T12:00:00.123456789Z', january + 12 * hour + 123],
    ['2026-01-31T00:30+01:00', january - hour / 2],
    ['2026-01-31T00:30:00-14:00', january + 14.5 * hour],
  ] as const) {
    t.equal(readTime(text), ms, text)
  }
})

t.test('what the calendar or the clock does not have is refused, and never moved', async (t) => {
  const days = [
    ...['2027-02-29', '2100-02-29', '2026-02-30', '2027-04-31', '2026-06-31', '2026-09-31'],
    ...['2026-11-31', '2026-00-10', '2026-13-01', '2026-01-00', '2026-01-32'],
  ]
  for (const day of days) {
    t.equal(readDay(day), undefined, day)
    for (const rest of ['', 'T12:00Z', 'T12:00:00+02:00']) {
      t.equal(readTime(`${day}${rest}`), undefined, `${day}${rest}`)
    }
  }
  const clocks = [
    ...['T24:00Z', 'T24:00:00Z', 'T25:00Z', 'T12:60Z', 'T12:00:60Z', 'T23:59:60Z'],
    ...['T12:00', 'T12:00:00', 'T12Z', 'T12:00:00.Z', 'T12:00+24:00', 'T12:00+02:60', 'T12:00+02'],
  ]
  for (const clock of clocks) t.equal(readTime(`2026-01-31${clock}`), undefined, clock)
})

t.test('other forms are refused', async (t) => {
  const others = [
    ...['', ' ', 'today', '0', '1769817600', '2026', '2026-01', '2026-1-31', '26-01-31'],
    ...['2026/01/31', '31.01.2026', 'Jan 31 2026', '20260131', '2026-W05-6', '2026-031'],
    ...[' 2026-01-31', '2026-01-31 ', '2026-01-31\n', '2026-01-31 12:00Z', '2026-01-31t12:00z'],
    ...['+002026-01-31', '-000001-01-31', '２０２６-01-31', '2026-01-31Z', '2026-01-31T12:00:00ZZ'],
  ]
  for (const text of others) {
    t.equal(readTime(text), undefined, JSON.stringify(text))
    t.equal(readDay(text), undefined, JSON.stringify(text))
  }
})
