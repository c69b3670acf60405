/**
 * Averaged orders on real engines: their invariants. What they cost: counting.test.ts.
 *
 * Needs the built addon and the fixtures. Bound: 1e-6 in probability, with `deterministic`.
 */
import t, { type Test } from 'tap'
import { objectFromEntries } from '../../src/api/json.js'
import { createDecider, type ModelDecider } from '../../src/decide/decide.js'
import type { ChoiceAnswer, Orders } from '../../src/decide/types.js'
import { withEngine } from '../helpers/fixture.js'

const bound = 1e-6
const facts = { fileName: 'fixture.gguf', digest: 'sha256:', releaseDate: '2025-01-01' }
const options = { contextTokens: 2048, threads: 1, maxBacklogMs: 2 ** 31 }
const names = ['accounts', 'technical', 'sales', 'legal', 'other']
const state = { ticket: 4711, text: 'I was charged twice and nobody answers my mails.' }

const teamOf = (listed: readonly string[]) => ({
  type: 'choice' as const,
  instructions: 'Which team should answer?',
  criteria: objectFromEntries(listed.map((name) => [name, `all about ${name}`])),
})

async function ask(decider: ModelDecider, listed: readonly string[], orders: Orders) {
  const questions = { team: teamOf(listed) }
  const { answers } = await decider.decide({ state, questions }, { orders, evidence: true })
  return answers['team'] as ChoiceAnswer
}

const differenceOf = (a: ChoiceAnswer, b: ChoiceAnswer) =>
  Math.max(...names.map((name) => Math.abs(a.probabilities[name]! - b.probabilities[name]!)))

async function expectSame(t: Test, decider: ModelDecider, orders: Orders, others: string[][]) {
  const given = await ask(decider, names, orders)
  const once = await ask(decider, names, 1)
  for (const listed of others) {
    const answer = await ask(decider, listed, orders)
    const difference = differenceOf(given, answer)
    const without = differenceOf(once, await ask(decider, listed, 1))
    t.comment(`orders ${orders}, ${listed.join(' ')}: ${difference}; in one order ${without}`)
    t.ok(difference < bound, `${listed.join(' ')}: ${difference}`)
    t.ok(without > 1e-3, 'in one order the answer is another')
    t.equal(answer.choice, given.choice)
    t.ok(answer.evidence!.order_spread! > 1e-3)
  }
}

for (const name of ['dense', 'hybrid'] as const) {
  t.test(`${name}: the order of the options does not move an averaged answer`, (t) =>
    withEngine(name, { ...options, deterministic: true }, async (engine) => {
      const decider = await createDecider(engine, facts)
      await expectSame(t, decider, 2, [names.toReversed()])
      const rotations = names
        .slice(1)
        .map((_, i) => [...names.slice(i + 1), ...names.slice(0, i + 1)])
      await expectSame(t, decider, 'all', rotations)
    }),
  )
}
