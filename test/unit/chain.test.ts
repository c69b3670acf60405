/** The list that requests join and leave. */
import t from 'tap'
import { Chain } from '../../src/chain.js'

t.test('members leave from anywhere, once, and the others keep their order', (t) => {
  const chain = new Chain<string>()
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => chain.add(name))
  t.same(chain.values(), ['a', 'b', 'c', 'd'])
  b!.leave()
  b!.leave()
  t.same(chain.values(), ['a', 'c', 'd'])
  d!.leave()
  a!.leave()
  t.equal(chain.first, 'c')
  t.equal(chain.size, 1)
  t.equal(chain.shift(), 'c')
  c!.leave()
  t.equal(chain.shift(), undefined)
  t.equal(chain.size, 0)
  chain.add('e')
  t.same(chain.values(), ['e'])
  t.end()
})

t.test('a member leaves the list that it joined, whatever others its owner has', (t) => {
  const [before, after] = [new Chain<string>(), new Chain<string>()]
  const member = before.add('a')
  after.add('b')
  member.leave()
  t.equal(before.first, undefined)
  t.same(after.values(), ['b'])
  t.end()
})
