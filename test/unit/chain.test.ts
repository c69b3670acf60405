/** The list that requests join and leave. */
import t from 'tap'
import { Chain } from '../../src/chain.js'

t.test('members leave from anywhere, and the others keep their order', (t) => {
  const chain = new Chain<string>()
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => chain.add(name))
  t.same(chain.values(), ['a', 'b', 'c', 'd'])
  chain.remove(b)
  t.same(chain.values(), ['a', 'c', 'd'])
  chain.remove(d)
  t.same(chain.values(), ['a', 'c'])
  chain.remove(a)
  t.equal(chain.first, c)
  t.equal(chain.size, 1)
  chain.remove(c)
  t.equal(chain.first, undefined)
  chain.add('e')
  t.same(chain.values(), ['e'])
  t.end()
})

t.test('a member that has left, or never joined, may leave again', (t) => {
  const chain = new Chain<string>()
  const a = chain.add('a')
  chain.add('b')
  chain.remove(a)
  chain.remove(a)
  chain.remove(undefined)
  t.same(chain.values(), ['b'])
  t.equal(chain.size, 1)
  t.end()
})

t.test('a member that has left links to no other', (t) => {
  const chain = new Chain<object>()
  const [, middle] = [{}, {}, {}].map((value) => chain.add(value))
  const { value } = middle!
  chain.remove(middle)
  const reached = Object.values(middle!).filter((held) => typeof held === 'object')
  t.same(reached, [value])
  t.end()
})
