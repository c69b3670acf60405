/** The bound on memory that images share. */
import t from 'tap'
import { Budget } from '../../src/images/budget.js'

/** Lets everything run that can. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

t.test('what is free is taken at once, the rest waits for its turn', async (t) => {
  const budget = new Budget(10)
  const order: string[] = []
  const take = (name: string, amount: number) =>
    budget.take(amount).then((release) => {
      order.push(name)
      return release
    })
  const first = await take('first', 6)
  const large = take('large', 8)
  const small = take('small', 2)
  await settle()
  t.strictSame(order, ['first'], 'the small one would fit, and does not overtake')
  first()
  ;(await large)()
  ;(await small)()
  t.strictSame(order, ['first', 'large', 'small'])
  t.equal(budget.free, 10)
})

t.test('giving back twice gives back once', async (t) => {
  const budget = new Budget(4)
  const release = await budget.take(3)
  release()
  release()
  t.equal(budget.free, 4)
})

t.test('more than there is at all is all of it', async (t) => {
  const budget = new Budget(4)
  const release = await budget.take(100)
  t.equal(budget.free, 0)
  release()
  t.equal(budget.free, 4)
})

t.test('whoever leaves the queue lets the next one through', async (t) => {
  const budget = new Budget(4)
  const release = await budget.take(3)
  const leaving = new AbortController()
  const large = budget.take(4, leaving.signal)
  const small = budget.take(1)
  leaving.abort()
  await t.rejects(large, { code: 'ERR_ABORTED' })
  ;(await small)()
  release()
  t.equal(budget.free, 4)
  await t.rejects(budget.take(1, leaving.signal), { code: 'ERR_ABORTED' })
  t.equal(budget.free, 4)
})

t.test('a signal that comes too late takes nothing away', async (t) => {
  const budget = new Budget(4)
  const late = new AbortController()
  const first = await budget.take(4)
  const second = budget.take(4, late.signal)
  first()
  const release = await second
  late.abort()
  await settle()
  t.equal(budget.free, 0)
  release()
  t.equal(budget.free, 4)
})
