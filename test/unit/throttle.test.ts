import t from 'tap'
import { Throttle } from '../../src/admin/throttle.js'

t.test('after five tries each further one waits twice as long, a minute at most', async (t) => {
  const throttle = new Throttle()
  let nowMs = 1000
  for (let i = 0; i < 5; i++) t.equal(throttle.begin('10.0.0.1', nowMs), 0)
  const waits: number[] = []
  for (let i = 0; i < 8; i++) {
    const waitMs = throttle.begin('10.0.0.1', nowMs)
    waits.push(waitMs)
    t.equal(throttle.begin('10.0.0.1', nowMs + waitMs - 1), 1, 'not a moment sooner')
    nowMs += waitMs
    t.equal(throttle.begin('10.0.0.1', nowMs), 0)
  }
  t.strictSame(waits, [2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
})

t.test('the wait begins when the try fails, however long it took', async (t) => {
  const throttle = new Throttle()
  for (let i = 0; i < 5; i++) throttle.begin('10.0.0.1', 0)
  throttle.fail('10.0.0.1', 10_000)
  t.equal(throttle.begin('10.0.0.1', 11_000), 1000)
})

t.test('success resets the wait, and so does an hour', async (t) => {
  const throttle = new Throttle()
  for (let i = 0; i < 5; i++) throttle.begin('10.0.0.1', 0)
  t.ok(throttle.begin('10.0.0.1', 0) > 0)
  throttle.succeed('10.0.0.1')
  t.equal(throttle.begin('10.0.0.1', 0), 0)
  for (let i = 0; i < 5; i++) throttle.begin('10.0.0.2', 0)
  t.ok(throttle.begin('10.0.0.2', 0) > 0)
  for (let i = 0; i < 5; i++) t.equal(throttle.begin('10.0.0.2', 3_600_001), 0)
})

t.test('addresses of one household count as one, and do not affect others', async (t) => {
  const throttle = new Throttle()
  const begin = (address: string) => throttle.begin(throttle.whoIs(address, undefined), 0)
  for (let i = 0; i < 5; i++) begin(`2001:db8::${i}`)
  t.ok(begin('2001:db8::ffff') > 0)
  t.equal(begin('2001:db8:0:1::1'), 0)
})

t.test('a browser that has signed in does not wait for the guesses of others there', async (t) => {
  const throttle = new Throttle()
  const browser = throttle.remember(undefined)
  t.equal(throttle.remember(browser), browser)
  for (let i = 0; i < 40; i++) throttle.begin(throttle.whoIs('127.0.0.1', 'made up'), 0)
  t.ok(throttle.begin(throttle.whoIs('127.0.0.1', undefined), 0) > 0)
  const who = throttle.whoIs('127.0.0.1', browser)
  for (let i = 0; i < 5; i++) t.equal(throttle.begin(who, 0), 0)
  t.ok(throttle.begin(who, 0) > 0, 'its own guesses count')
})

t.test('guesses from everywhere are delayed together, known addresses are not', async (t) => {
  const throttle = new Throttle()
  t.equal(throttle.begin('192.0.2.1', 0), 0)
  throttle.succeed('192.0.2.1')
  let letIn = 0
  for (let i = 0; i < 1000; i++) {
    if (throttle.begin(`10.0.${i >> 8}.${i & 255}`, i) === 0) letIn++
  }
  t.equal(letIn, 30)
  t.equal(throttle.begin('192.0.2.1', 1000), 0)
  t.equal(throttle.begin('10.9.9.9', 60_001), 0, 'and in the next minute others do')
})
