/** Answers averaged over several orders of their options. No model. */
import t from 'tap'
import { ordersFromText, requireOrders } from '../../src/api/orders.js'
import type { ChoiceAnswer, NoulAnswer, Orders } from '../../src/decide/types.js'
import { open } from '../../src/open.js'
import { softmax } from '../../src/scoring/softmax.js'
import { fakeAsker, fakeDecider } from '../helpers/fake-engine.js'

t.test('1, 2 and all are orders, and nothing else is', async (t) => {
  t.strictSame(['1', '2', 'all'].map(ordersFromText), [1, 2, 'all'])
  for (const text of ['', '0', '3', '1.0', ' 2', 'ALL', 'true', '1,2']) {
    t.equal(ordersFromText(text), undefined, text)
  }
  for (const orders of [undefined, 1, 2, 'all'] as const) requireOrders(orders)
  for (const orders of [0, 3, '2', null, {}]) {
    t.throws(() => requireOrders(orders as Orders), {
      code: 'ERR_INVALID_ARGUMENT',
      message: `orders: expected 1, 2 or all, got ${JSON.stringify(orders)}`,
    })
  }
})

/** The logit of each option, and the bias of each label. */
const worth: Readonly<Record<string, number>> = { red: 0.4, green: 1.1, blue: -0.3, grey: 0 }
const bias: Readonly<Record<string, number>> = { A: 2, B: 0.5, C: -1, D: 0 }
function biased(prompt: string, token: string): number {
  const name = new RegExp(`^${token}: (\\w+)$`, 'm').exec(prompt)?.[1]
  return (worth[name ?? ''] ?? 0) + (bias[token] ?? 0)
}

t.test('open() refuses other orders before it looks for the model', (t) =>
  t.rejects(open({ model: 'none.gguf', orders: 3 as Orders }), { code: 'ERR_INVALID_ARGUMENT' }),
)

t.test("averaging all orders cancels the labels' bias", async (t) => {
  const names = Object.keys(worth)
  const expected = softmax(Object.values(worth))
  const { ask } = await fakeAsker({ logit: biased })
  const criteria = Object.fromEntries(names.map((name) => [name, null]))
  const answerIn = async (orders: Orders) => {
    const body = { state: 1, questions: { q: { type: 'choice', criteria } } }
    return (await ask(body, { evidence: true, orders })).answers['q'] as ChoiceAnswer
  }
  const answer = await answerIn('all')
  for (const [i, name] of names.entries()) {
    t.ok(Math.abs(answer.probabilities[name]! - expected[i]!) < 1e-6, name)
  }
  t.equal(answer.choice, 'green')
  t.ok(answer.evidence!.order_spread! > 0.3)
  t.equal((await answerIn(1)).choice, 'red', 'one order would be taken in')
})

t.test('a noul in one order has no order spread', async (t) => {
  const decider = await fakeDecider()
  const wet = { type: 'noul', instructions: 'Wet?' } as const
  const listed = { ...wet, criteria: { true: 'drops', false: 'sun' } }
  const { answers } = await decider.decide(
    { state: 1, questions: { wet, listed } },
    { evidence: true, orders: 2 },
  )
  t.notOk('order_spread' in answers['wet']!.evidence!)
  t.type(answers['listed']!.evidence!.order_spread, 'number')
  const alone = await decider.decide({ state: 1, questions: { wet } })
  t.equal((answers['wet'] as NoulAnswer).noul, (alone.answers['wet'] as NoulAnswer).noul)
})
