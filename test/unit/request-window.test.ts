import t from 'tap'
import { RequestWindow } from '../../src/http/access/request-window.js'
import { createRandom } from '../helpers/random.js'

t.test('no 60 seconds ever have more requests than the limit, on any clock', async (t) => {
  for (const [seed, limit, meanGapMs] of [
    [1, 1, 4000],
    [2, 7, 900],
    [3, 600, 20],
    [4, 600, 0.3],
    [5, 50_000, 0.8],
  ] as const) {
    const random = createRandom(seed)
    const window = new RequestWindow()
    const taken: number[] = []
    let first = 0
    let [now, refused, most] = [random.next() * 1e6, 0, 0]
    for (const end = now + 300_000; now < end;) {
      // Bursts, steady times and pauses.
      const gap = random.integer(200) === 0 ? 20_000 * random.next() : 2 * meanGapMs * random.next()
      now += random.integer(3) === 0 ? 0 : gap
      const count = 1 + random.integer(Math.min(3, limit))
      if (window.take(count, limit, now) > 0) refused++
      else for (let i = 0; i < count; i++) taken.push(now)
      while (taken[first]! <= now - 60_000) first++
      most = Math.max(most, taken.length - first)
    }
    t.ok(most <= limit, `${most} of ${limit}`)
    // The test proves something only if the limit was reached.
    if (limit <= 600) t.ok(most > 0.9 * limit && refused > 0, `${most}, ${refused} refused`)
  }
})

t.test('a caller that waits as long as told is admitted, and not a moment earlier', async (t) => {
  const random = createRandom(11)
  const wrong: unknown[] = []
  for (let i = 0; i < 200; i++) {
    const limit = 1 + random.integer(20)
    const window = new RequestWindow()
    let now = random.integer(1e9)
    for (let j = 0; j < 3 * limit; j++) {
      now += random.integer(3000)
      window.take(1, limit, now)
    }
    // The last request was just admitted, or was refused: there is no room for all.
    const waitMs = window.take(limit, limit, now)
    const early = window.take(limit, limit, now + waitMs - 0.5)
    const late = window.take(limit, limit, now + waitMs)
    if (!(waitMs > 0 && waitMs <= 60_000 && early > 0 && late === 0)) {
      wrong.push({ limit, waitMs, early, late })
    }
  }
  t.strictSame(wrong, [])
})

t.test('a refused request is not counted', async (t) => {
  const window = new RequestWindow()
  t.equal(window.take(2, 3, 0), 0)
  t.equal(window.take(2, 3, 10), 59_990)
  t.equal(window.used(10), 2)
  t.equal(window.take(1, 3, 10), 0)
  t.equal(window.take(1, 3, 20), 59_980)
})

t.test('it says when it will be empty again', async (t) => {
  const window = new RequestWindow()
  t.equal(window.emptyInMs(5), 0)
  window.take(1, 9, 1000)
  window.take(1, 9, 3000)
  t.equal(window.emptyInMs(4000), 59_000)
  t.equal(window.used(61_000), 1)
  t.equal(window.emptyInMs(63_000), 0)
  t.equal(window.used(63_000), 0)
})

t.test('a lowered limit takes effect at once', async (t) => {
  const window = new RequestWindow()
  for (let now = 0; now < 10; now++) window.take(1, 100, now)
  t.equal(window.take(1, 5, 100), 60_005 - 100)
  t.equal(window.take(1, 11, 100), 0)
})

t.test('requests of one millisecond expire together, with the last of them', async (t) => {
  const window = new RequestWindow()
  window.take(1, 2, 10.1)
  window.take(1, 2, 10.9)
  t.ok(window.take(1, 2, 60_010.5) > 0)
  t.equal(window.take(2, 2, 60_010.9), 0)
})
