import t from 'tap'
import {
  costOf,
  free,
  maxAmount,
  maxPrice,
  readCredits,
  showCredits,
} from '../../src/accounts/ledger/money.js'
import { createRandom } from '../helpers/random.js'

t.test('credits are read to the last millionth, and printed as they are read', async (t) => {
  for (const [text, amount] of [
    ['0', 0],
    ['12', 12_000_000],
    ['12.5', 12_500_000],
    ['0.000001', 1],
    ['-0.000001', -1],
    ['-3', -3_000_000],
    ['0.1', 100_000],
    ['999999999.999999', maxAmount],
  ] as const) {
    t.equal(readCredits(text), amount, text)
    t.equal(showCredits(amount), text)
  }
  t.equal(readCredits('1.500000'), 1_500_000)
  t.ok(Object.is(readCredits('-0'), 0))
})

t.test('a malformed amount of credits is refused', async (t) => {
  for (const text of [
    ...['', '-', '.', '.5', '5.', '1,5', '+5', ' 5', '5 ', '1e3', '0x10', '--5', 'NaN'],
    ...['0.0000001', '1000000000', 'Infinity', '٣'],
  ]) {
    t.throws(() => readCredits(text), { code: 'ERR_ACCOUNTS' }, text)
  }
})

t.test('image tokens cost the image price instead of the input price', async (t) => {
  const price = { input: 1_000_000, output: 10_000_000, image: 3_000_000 }
  const tokens = { input_tokens: 100, image_tokens: 40, output_tokens: 5 }
  t.equal(costOf(tokens, price), 60 + 40 * 3 + 5 * 10)
  t.equal(costOf({ input_tokens: 100, output_tokens: 5 }, price), 100 + 5 * 10)
  t.equal(costOf(tokens, free), 0)
})

t.test('a cost is rounded up, once and at the end', async (t) => {
  const price = { input: 1, output: 1, image: 1 }
  t.equal(costOf({ input_tokens: 1, output_tokens: 1 }, price), 1)
  t.equal(costOf({ input_tokens: 999_999, output_tokens: 1 }, price), 1)
  t.equal(costOf({ input_tokens: 1_000_000, output_tokens: 1 }, price), 2)
})

t.test('no cost has a rounding error, however large the numbers are', async (t) => {
  const random = createRandom(7)
  const wrong: unknown[] = []
  for (let i = 0; i < 2000; i++) {
    const size = 10 ** (1 + random.integer(9))
    const image_tokens = random.integer(size)
    const tokens = {
      input_tokens: image_tokens + random.integer(size),
      image_tokens,
      output_tokens: random.integer(size),
    }
    const most = 10 ** (1 + random.integer(12))
    const [input, output, image] = [0, 0, 0].map(() => Math.min(maxPrice, random.integer(most)))
    const product =
      BigInt(tokens.input_tokens - image_tokens) * BigInt(input!) +
      BigInt(image_tokens) * BigInt(image!) +
      BigInt(tokens.output_tokens) * BigInt(output!)
    const expected = Number((product + 999_999n) / 1_000_000n)
    const price = { input: input!, output: output!, image: image! }
    const cost = costOf(tokens, price)
    if (cost !== expected) wrong.push({ tokens, price, cost, expected })
  }
  t.strictSame(wrong, [])
})
