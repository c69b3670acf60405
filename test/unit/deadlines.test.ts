/** The lists that requests join and leave. */
import t from 'tap'
import { setTimeout as sleep } from 'node:timers/promises'
import { Deadlines } from '../../src/http/requests/deadlines.js'
import { Running } from '../../src/running.js'

t.test('what has left does not expire, and the others do in their order', async (t) => {
  const deadlines = new Deadlines(20)
  const told: string[] = []
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) =>
    deadlines.add({ expire: () => told.push(name) }),
  )
  b!.leave()
  b!.leave()
  await sleep(60)
  t.same(told, ['a', 'c', 'd'])
  for (const member of [a, c, d]) member!.leave()
})

t.test('leaving while others expire, and joining again, goes on', async (t) => {
  const deadlines = new Deadlines(20)
  const told: string[] = []
  deadlines.add({
    expire: () => {
      told.push('a')
      b.leave()
      deadlines.add({ expire: () => told.push('c') })
    },
  })
  const b = deadlines.add({ expire: () => told.push('b') })
  await sleep(100)
  t.same(told, ['a', 'c'])
})

t.test('the wait ends when the last has left, and lists those that have not', async (t) => {
  const running = new Running<string>()
  const [a, b] = ['a', 'b'].map((name) => running.add(name))
  t.same(await running.drain(1), ['a', 'b'])
  a!.leave()
  a!.leave()
  t.same(running.entries(), ['b'])
  const drained = running.drain(10_000)
  b!.leave()
  t.same(await drained, [])
  t.equal(running.size, 0)
})
