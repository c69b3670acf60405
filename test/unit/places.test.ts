/** Places for concurrent requests: which request waits, how long, and which is next. */
import t from 'tap'
import { Places } from '../../src/http/access/places.js'
import { Canceller } from '../../src/http/requests/canceller.js'

const [ours, theirs, others] = [1, 2, 3]

/** The requests with a place, in the order in which they got it. */
class Line {
  readonly admitted: string[] = []
  readonly refused: [name: string, code: string][] = []

  add(name: string, admitted: Promise<void> | undefined): void {
    admitted!.then(
      () => this.admitted.push(name),
      (error: { code: string }) => this.refused.push([name, error.code]),
    )
  }
}

const turn = () => new Promise(setImmediate)

t.test('a workspace has as many places as its limit, first come, first served', async (t) => {
  const places = new Places({})
  const line = new Line()
  t.equal(places.enter(ours, 2), undefined)
  t.equal(places.enter(ours, 2), undefined)
  for (const name of ['a', 'b', 'c']) line.add(name, places.enter(ours, 2))
  t.equal(places.taken(ours), 2)
  t.equal(places.waiting(ours), 3)
  t.equal(places.waitingInAll, 3)
  places.leave(ours)
  await turn()
  t.strictSame(line.admitted, ['a'])
  line.add('d', places.enter(ours, 2))
  places.leave(ours)
  places.leave(ours)
  await turn()
  t.strictSame(line.admitted, ['a', 'b', 'c'])
  places.leave(ours)
  await turn()
  t.strictSame(line.admitted, ['a', 'b', 'c', 'd'])
  places.leave(ours)
  places.leave(ours)
  t.equal(places.taken(ours), 0)
  places.leave(ours)
  t.equal(places.taken(ours), 0, 'one that nobody has cannot be given back')
})

t.test('without a limit no request waits', (t) => {
  const places = new Places({})
  for (let i = 0; i < 10_000; i++) if (places.enter(ours, 0)) t.fail('waits')
  t.equal(places.taken(ours), 10_000)
  t.end()
})

t.test('four times as many requests as places may wait, and the next is refused', async (t) => {
  const places = new Places({})
  const line = new Line()
  for (let i = 0; i < 3; i++) places.enter(ours, 3)
  for (let i = 0; i < 12; i++) line.add(`${i}`, places.enter(ours, 3))
  t.throws(() => places.enter(ours, 3), { code: 'ERR_CONCURRENCY', message: /3 .*12/ })
  t.throws(() => places.requireRoom(ours, 3), { code: 'ERR_CONCURRENCY' })
  places.requireRoom(theirs, 3)
  line.add('patient', places.enter(ours, 3, { patient: true }))
  places.leave(ours)
  await turn()
  t.strictSame(line.admitted, ['0'])
  places.requireRoom(ours, 3)
  for (let i = 0; i < 12; i++) places.leave(ours)
  await turn()
  t.equal(line.admitted.at(-1), 'patient')
})

t.test('a request that has waited too long is refused, more patient ones are not', async (t) => {
  const places = new Places({ waitMs: 20 })
  const line = new Line()
  places.enter(ours, 1)
  line.add('patient', places.enter(ours, 1, { patient: true }))
  const startMs = performance.now()
  await t.rejects(places.enter(ours, 1)!, { code: 'ERR_CONCURRENCY' })
  t.ok(performance.now() - startMs >= 19)
  t.equal(places.waiting(ours), 1)
  places.leave(ours)
  await turn()
  t.strictSame(line.admitted, ['patient'])
})

t.test(
  'a refusal says when the line will be gone, by the pace of the last departures',
  async (t) => {
    let nowMs = 0
    const places = new Places({ waitMs: 1, now: () => nowMs })
    places.enter(ours, 2)
    places.enter(ours, 2)
    await t.rejects(places.enter(ours, 2)!, { code: 'ERR_CONCURRENCY', retryAfterMs: undefined })
    nowMs = 100
    places.leave(ours)
    places.enter(ours, 2)
    await t.rejects(places.enter(ours, 2)!, { code: 'ERR_CONCURRENCY', retryAfterMs: 100 })
    nowMs = 180
    places.leave(ours)
    places.enter(ours, 2)
    const line = new Line()
    line.add('in line', places.enter(ours, 2, { patient: true }))
    await t.rejects(places.enter(ours, 2)!, {
      code: 'ERR_CONCURRENCY',
      retryAfterMs: 2 * (100 - 20 / 8),
    })
  },
)

t.test('a request that leaves the line gives up its turn', async (t) => {
  const places = new Places({})
  const line = new Line()
  const leaving = new Canceller()
  places.enter(ours, 1)
  line.add('gone', places.enter(ours, 1, { signal: leaving }))
  line.add('next', places.enter(ours, 1))
  leaving.abort(undefined)
  await turn()
  t.strictSame(line.refused, [['gone', 'ERR_ABORTED']])
  places.leave(ours)
  await turn()
  t.strictSame(line.admitted, ['next'])
  const late = new Canceller()
  late.abort(undefined)
  await t.rejects(places.enter(ours, 1, { signal: late })!, { code: 'ERR_ABORTED' })
  t.equal(places.waiting(ours), 0)
})

t.test('a shared place goes to the workspace with the fewest', async (t) => {
  const places = new Places({ total: 4 })
  const line = new Line()
  for (let i = 0; i < 4; i++) places.enter(ours, 0)
  for (let i = 0; i < 8; i++) line.add(`ours ${i}`, places.enter(ours, 0))
  line.add('theirs 0', places.enter(theirs, 0))
  line.add('theirs 1', places.enter(theirs, 0))
  line.add('theirs 2', places.enter(theirs, 0))
  line.add('others 0', places.enter(others, 1))
  for (let i = 0; i < 4; i++) {
    places.leave(ours)
    await turn()
  }
  t.strictSame(line.admitted, ['theirs 0', 'others 0', 'ours 0', 'theirs 1'])
})

t.test('three hundred looping clients do not keep out an occasional one', async (t) => {
  const places = new Places({ total: 256 })
  let served = 0
  let stopped = false
  const loop = async () => {
    while (!stopped) {
      await places.enter(ours, 0)
      await turn()
      places.leave(ours)
      served++
    }
  }
  const loops = Array.from({ length: 300 }, loop)
  await turn()
  let longest = 0
  for (let i = 0; i < 50; i++) {
    const before = served
    await places.enter(theirs, 256)
    longest = Math.max(longest, served - before)
    places.leave(theirs)
    await turn()
  }
  stopped = true
  await Promise.all(loops)
  t.ok(longest <= 300, `waited while ${longest} others were served`)
})

t.test('if the shared places are too few, a refusal does not blame the workspace', async (t) => {
  const places = new Places({ total: 1, waitMs: 1 })
  places.enter(ours, 0)
  await t.rejects(places.enter(theirs, 5)!, { code: 'ERR_OVERLOADED' })
})
