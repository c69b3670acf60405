/** Answers averaged over several orders of their options. No model. */
import t from 'tap'
import { objectFromEntries, type Json } from '../../src/api/json.js'
import { ordersFromText, requireOrders } from '../../src/api/orders.js'
import { createDecider } from '../../src/decide/decide.js'
import type { ChoiceAnswer, NoulAnswer, Orders } from '../../src/decide/types.js'
import type { PromptPart } from '../../src/engine/types.js'
import { open } from '../../src/open.js'
import { softmax } from '../../src/scoring/softmax.js'
import { createFakeEngine, fakeDecider, fakeFacts } from '../helpers/fake-engine.js'

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
const biased = createFakeEngine({
  logit: (prompt, token) => {
    const name = new RegExp(`^${token}: (\\w+)$`, 'm').exec(prompt)?.[1]
    return (worth[name ?? ''] ?? 0) + (bias[token] ?? 0)
  },
})

async function ask(names: readonly string[], orders?: Orders, standard?: Orders) {
  const decider = await createDecider(biased, { ...fakeFacts, orders: standard })
  const criteria = objectFromEntries<Json>(names.map((name) => [name, null]))
  const decision = await decider.decide(
    { state: 1, questions: { q: { type: 'choice', criteria } } },
    { evidence: true, orders },
  )
  const answer = decision.answers['q'] as ChoiceAnswer
  const { evidence } = answer
  return { ...decision, ...answer, evidence, p: (name: string) => answer.probabilities[name]! }
}
const near = (a: number, b: number) => Math.abs(a - b) < 1e-6

t.test('open() refuses other orders before it looks for the model', (t) =>
  t.rejects(open({ model: 'none.gguf', orders: 3 as Orders }), { code: 'ERR_INVALID_ARGUMENT' }),
)

t.test("averaging all orders cancels the labels' bias", async (t) => {
  const names = Object.keys(worth)
  const expected = softmax(Object.values(worth))
  const answer = await ask(names, 'all')
  for (const [i, name] of names.entries()) t.ok(near(answer.p(name), expected[i]!), name)
  t.equal(answer.choice, 'green')
  t.ok(answer.evidence!.order_spread! > 0.3)
  t.equal((await ask(names, 1)).choice, 'red', 'one order would be taken in')
})

t.test('with two orders, reversed options have the same answer', async (t) => {
  const names = Object.keys(worth)
  const given = await ask(names, 2)
  const reversed = await ask(names.toReversed(), 2)
  for (const name of names) t.ok(near(given.p(name), reversed.p(name)), name)
  t.ok(near(given.evidence!.order_spread!, reversed.evidence!.order_spread!), 'the spread, too')
  const [one, other] = [await ask(names, 1), await ask(names.toReversed(), 1)]
  t.notOk(near(one.p('red'), other.p('red')), 'which they have not in one')
})

t.test("the model's setting holds, unless the request has its own", async (t) => {
  const names = ['red', 'green']
  const two = await ask(names, 2)
  t.strictSame((await ask(names, undefined, 2)).probabilities, two.probabilities)
  const one = await ask(names, 1, 2)
  t.strictSame(one.probabilities, (await ask(names)).probabilities)
  t.notOk('order_spread' in one.evidence!)
})

t.test(
  'the tokens of a question are counted once, in however many orders it is asked',
  async (t) => {
    const one = (await ask(Object.keys(worth), 1)).usage
    const [{ prefix, suffixes }] = biased.scored.slice(-1) as [(typeof biased.scored)[number]]
    const count = async (parts: readonly PromptPart[]) =>
      (await biased.tokenize(parts)).reduce((sum, ids) => sum + ids.length, 0)
    const shared = await count(prefix)
    const own = await count(suffixes[0]!.parts)
    t.equal(one.input_tokens, shared + own)
    t.equal((await ask(Object.keys(worth), 2)).usage.input_tokens, shared + own)
    t.equal((await ask(Object.keys(worth), 'all')).usage.input_tokens, shared + own)
  },
)

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
