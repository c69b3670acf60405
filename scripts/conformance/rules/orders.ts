/**
 * Averaged orders: the values of the header, and that an answer then does not depend on the order
 * of its options.
 *
 * @module
 */

import { choice } from '../../../test/helpers/request-text.js'
import { type Answer, type Context, refusalOf } from '../context.js'
import { between, check, each, equal, near, object, sameAnswer } from '../expect.js'
import { section } from '../rule.js'

const names: readonly string[] = ['billing', 'technical', 'sales', 'legal', 'other']
const reversed = names.toReversed()
const rotated = [...names.slice(2), ...names.slice(0, 2)]

const asked = (listed: readonly string[]) =>
  choice(`{${listed.map((name) => `${JSON.stringify(name)}:null`).join()}}`)

const answerIn = (
  context: Context,
  orders: string,
  listed: readonly string[] = names,
): Promise<Answer> =>
  context.answerOne(asked(listed), { 'x-oi-orders': orders, 'x-oi-evidence': '1' })

/** Whether the model reads each option alone, so that their order is nothing to it. */
async function readsOneByOne(context: Context): Promise<boolean> {
  const { probabilities = {} } = await answerIn(context, '1')
  const { probabilities: turned = {} } = await answerIn(context, '1', reversed)
  return names.every((name) => Math.abs(probabilities[name]! - turned[name]!) < 1e-6)
}

/** @throws Failure unless both orders of the options have the same answer. */
async function expectSame(context: Context, orders: string, others: readonly string[]) {
  const { probabilities } = await answerIn(context, orders)
  const { probabilities: moved } = await answerIn(context, orders, others)
  object('probabilities', probabilities)
  object('probabilities', moved)
  for (const name of names) near(name, moved[name], Number(probabilities[name]), sameAnswer)
}

export const orderRules = section('decisions/Evidence', {
  'with averaged orders there is order_spread, and else not': async (context) => {
    await each(['2', 'all'], async (orders) => {
      const { evidence } = await answerIn(context, orders)
      object('evidence', evidence)
      if (!('order_spread' in evidence) && (await readsOneByOne(context))) return
      between('order_spread', evidence['order_spread'], 0, 1)
    })
    const { evidence } = await answerIn(context, '1')
    object('evidence', evidence)
    check(!('order_spread' in evidence), 'order_spread is there with x-oi-orders: 1')
  },
  'x-oi-orders: 2: reversed options have the same answer': (context) =>
    expectSame(context, '2', reversed),
  'x-oi-orders: all: rotated options have the same answer': (context) =>
    expectSame(context, 'all', rotated),
  'x-oi-orders: other than 1, 2 and all is refused with 400': async (context) => {
    await each(['0', '3', 'ALL', 'both'], async (orders) => {
      const reply = await context.post(asked(names), { 'x-oi-orders': orders })
      refusalOf(reply, 400, 'invalid_request', 'x-oi-orders')
    })
    const { status } = await context.post(asked(names), { 'x-oi-orders': '1' })
    equal('status of x-oi-orders: 1', status, 200)
  },
})
