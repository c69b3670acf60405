/** The key of a state, by which a replica is chosen. */
import t from 'tap'
import { stateKey } from '../../src/runner/state-key.js'
import { picture, template, user } from '../helpers/fixture.js'
import { createRandom } from '../helpers/random.js'

/** A text of this length; texts with the same seed share their beginnings. */
function textOf(length: number, seed = 1): string {
  const random = createRandom(seed)
  return Array.from({ length }, () => String.fromCharCode(97 + random.integer(26))).join('')
}

const key = (text: string) => stateKey([template('<|user|>'), user(text)], 'a')

t.test('a growing state keeps its key until it passes a power of two', async (t) => {
  for (const [from, to] of [
    [256, 511],
    [1024, 2047],
    [4096, 40_000],
  ] as const) {
    for (const length of [from, from + 1, (from + to) >> 1, to]) {
      t.equal(key(textOf(length)), key(textOf(from)), `${length} characters`)
    }
  }
  t.not(key(textOf(2047)), key(textOf(2048)))
})

t.test('states that share less than half of their text have different keys', async (t) => {
  const common = textOf(1000)
  const keys = Array.from({ length: 100 }, (_, i) => key(common + textOf(1100, 100 + i)))
  t.equal(new Set(keys).size, keys.length)
})

t.test('a state of another scope has another key', async (t) => {
  const keys = Array.from({ length: 100 }, (_, i) =>
    stateKey([user(textOf(700))], `workspace ${i}`),
  )
  t.equal(new Set(keys).size, keys.length)
})

t.test('in short states every character counts', async (t) => {
  const common = textOf(240)
  const keys = Array.from({ length: 10 }, (_, i) => key(`${common}${i}`))
  t.equal(new Set(keys).size, keys.length)
})

t.test('neither the division of a state nor the template counts', async (t) => {
  const text = textOf(700)
  t.equal(stateKey([user(text.slice(0, 100)), user(text.slice(100))], 'a'), key(text))
  t.equal(stateKey([template('<|another|>'), user(text), template('<|end|>')], 'a'), key(text))
})

t.test('images count, by their pixels and sizes', async (t) => {
  const withPicture = (...parts: Parameters<typeof picture>) =>
    stateKey([user('Look: '), picture(...parts), user(' What is it?')], 'a')
  t.equal(withPicture(1), withPicture(1))
  const keys = [key('Look:  What is it?'), withPicture(1), withPicture(2), withPicture(1, 84, 112)]
  t.equal(new Set(keys).size, keys.length)
})
