/**
 * Averaged orders on real engines: their invariants, and their cost.
 *
 * Needs the built addon and the fixtures. Bound: 1e-6 in probability, with `deterministic`.
 */
import t, { type Test } from 'tap'
import { objectFromEntries } from '../../src/api/json.js'
import { createDecider, type ModelDecider } from '../../src/decide/decide.js'
import type { ChoiceAnswer, Orders } from '../../src/decide/types.js'
import type { Engine, ScoreOutput } from '../../src/engine/types.js'
import { text, withEngine } from '../helpers/fixture.js'

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

  t.test(`${name}: further orders evaluate their questions again, and cost nothing`, (t) =>
    withEngine(name, options, async (engine) => {
      const outputs = recordOutputs(engine)
      const decider = await createDecider(engine, facts)
      let one: ScoreOutput | undefined
      for (const [i, orders] of ([1, 2, 'all'] as const).entries()) {
        const before = usefulTokens(engine)
        // A unique beginning, so that no cache has any of it.
        const long = `${i} ${text(600)}`
        const { usage } = await decider.decide(
          { state: long, questions: { team: teamOf(names) } },
          { orders },
        )
        const { prefixTokens, suffixTokens, cachedTokens, evaluatedTokens } = outputs.at(-1)!
        const evaluated = usefulTokens(engine) - before
        one ??= outputs.at(-1)!
        const count = orders === 'all' ? names.length : orders
        t.equal(cachedTokens, 0)
        t.equal(prefixTokens, one.prefixTokens)
        t.equal(evaluated, evaluatedTokens)
        t.equal(suffixTokens, one.suffixTokens, 'the question is counted once')
        t.equal(usage.input_tokens, prefixTokens + suffixTokens)
        // Options that change places may merge with other tokens at their ends.
        const ratio = (evaluated - prefixTokens) / one.suffixTokens
        t.ok(Math.abs(ratio - count) < 0.1 * count, `${ratio} times the question's tokens`)
        t.comment(
          `orders ${orders}: ${prefixTokens} tokens of the state, ${suffixTokens} of the question, ` +
            `${evaluated} evaluated`,
        )
      }
    }),
  )
}

/** Keeps the engine's reports on each request. */
function recordOutputs(engine: Engine): readonly ScoreOutput[] {
  const outputs: ScoreOutput[] = []
  const { score } = engine
  engine.score = async (...given) => {
    const output = await score.apply(engine, given)
    outputs.push(output)
    return output
  }
  return outputs
}

function usefulTokens(engine: Engine): number {
  const { evaluatedTokens, paddingTokens, lostTokens } = engine.stats()
  return evaluatedTokens - paddingTokens - lostTokens
}
