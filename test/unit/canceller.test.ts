import t from 'tap'
import { Canceller } from '../../src/http/requests/canceller.js'

t.test('every listener is called once, with the reason set', async (t) => {
  const canceller = new Canceller()
  const seen: unknown[] = []
  canceller.addEventListener('abort', () => seen.push(['a', canceller.reason]))
  canceller.addEventListener('abort', () => seen.push(['b', canceller.aborted]))
  canceller.abort('gone')
  canceller.abort('again')
  t.same(seen, [
    ['a', 'gone'],
    ['b', true],
  ])
  t.equal(canceller.reason, 'gone')
})

t.test('a listener that was removed, or came too late, is not called', async (t) => {
  const canceller = new Canceller()
  const listener = () => t.fail('told')
  canceller.addEventListener('abort', listener)
  canceller.removeEventListener('abort', listener)
  canceller.abort('gone')
  canceller.addEventListener('abort', listener)
  t.ok(canceller.aborted)
})
