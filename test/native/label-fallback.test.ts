/**
 * Fallbacks for poor vocabularies on a real model whose labels are limited. Needs the built addon;
 * fixtures are made on first use. Tolerances: those of the promises (src/engine, native/README.md).
 */
import t from 'tap'
import type { Question } from '../../src/decide/types.js'
import type { Engine, ScoreInput } from '../../src/engine/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import { optionLogits } from '../../src/scoring/option-logits.js'
import { softmax } from '../../src/scoring/softmax.js'
import type { Measurement } from '../../src/scoring/types.js'
import { withEngine } from '../helpers/fixture.js'

const state = 'The card was charged twice, and nobody answers the telephone.'

const choiceOf = (count: number): Question => {
  const names = Array.from({ length: count }, (_, i) => [`option ${i}`, null])
  return { type: 'choice', instructions: 'Which one?', criteria: Object.fromEntries(names) }
}

/** The readings after each suffix. */
async function measure(engine: Engine, input: ScoreInput): Promise<Measurement[]> {
  const { logits } = await engine.score(input)
  let at = 0
  return input.suffixes.map(({ candidates }) => {
    const own = logits.subarray(at, at + candidates.length)
    at += candidates.length + 1
    return { logits: own, vocabulary: logits[at - 1]! }
  })
}

async function ask(engine: Engine, maxLabels: number, count: number) {
  const readout = await createReadout(engine, { maxLabels })
  const rendering = readout.render({ state, questions: { q: choiceOf(count) } })
  const { reading } = rendering.readers[0]!
  const { logits, labelMass } = optionLogits(reading, await measure(engine, rendering.input))
  return { readout, ...rendering, reading, probabilities: softmax(logits), labelMass }
}

const sumOf = (values: Iterable<number>) => [...values].reduce((sum, value) => sum + value, 0)
const near = (a: number, b: number, tolerance = 1e-3) => Math.abs(a - b) < tolerance

// For the hybrid model, which is slower, just enough to use every step.
for (const [name, many] of [
  ['small', 255],
  ['hybrid-qwen', 30],
] as const) {
  t.test(`${name}: ${many} options have probabilities in every way`, (t) =>
    withEngine(name, async (engine) => {
      for (const [maxLabels, called] of [
        [255, 'letters@1'],
        [26, 'letters@1+groups'],
        [5, 'letters@1+trie'],
        [0, 'letters@1+trie'],
      ] as const) {
        const { readout, probabilities, labelMass } = await ask(engine, maxLabels, many)
        t.equal(readout.name, called)
        t.equal(probabilities.length, many)
        t.ok(
          probabilities.every((p) => p > 0 && p < 1),
          called,
        )
        t.ok(near(sumOf(probabilities), 1, 1e-9), called)
        t.ok(labelMass > 0 && labelMass <= 1, called)
      }
    }),
  )

  t.test(`${name}: a code is as likely as its tokens, one question after another`, (t) =>
    withEngine(name, async (engine) => {
      const { input, reading, probabilities, labelMass } = await ask(engine, 0, 60)
      const { parts } = input.suffixes[0]!
      const tail = parts[1]!.text
      const tokensOf = async (text: string) => [
        ...(await engine.tokenize([{ text: tail + text, trusted: true }]))[0]!,
      ]
      const before = await tokensOf('')
      const codes = parts[0]!.text.match(/^[A-Z]+(?=: option \d+$)/gm)!
      t.equal(codes.length, 60)
      if (reading.kind !== 'steps') throw new Error('steps')
      // Many codes of two letters are single tokens.
      const spelled = reading.options.findIndex(([steps]) => steps!.length > 1)
      t.ok(spelled >= 0)
      // A letter after the tail can change the tail's own tokens; a letter with a space does not.
      const changes = (await tokensOf('A')).slice(0, before.length).join() !== before.join()
      for (const option of [0, spelled, 30, 59]) {
        const code = codes[option]!
        const text = changes ? ` ${code}` : code
        const ids = await tokensOf(text)
        // Each token alone, over the whole vocabulary, without the trie.
        let logProbability = 0
        let begun = ''
        for (let i = before.length; i < ids.length; i++) {
          const wanted = ids.slice(0, i).join()
          while ((await tokensOf(begun)).join() !== wanted && begun !== text) {
            begun = text.slice(0, begun.length + 1)
          }
          t.not(begun, text, `${code}: a text up to token ${i - before.length}`)
          const [own] = await measure(engine, {
            prefix: input.prefix,
            suffixes: [
              {
                parts: [parts[0]!, { text: tail + begun, trusted: true }],
                candidates: Int32Array.of(ids[i]!),
              },
            ],
          })
          logProbability += own!.logits[0]! - own!.vocabulary
        }
        const p = probabilities[option]! * labelMass
        t.ok(Math.abs(Math.exp(logProbability) / p - 1) < 1e-2, code)
      }
    }),
  )

  t.test(`${name}: a group and its members are as likely as when asked alone`, (t) =>
    withEngine(name, async (engine) => {
      const { input, probabilities } = await ask(engine, 20, 50)
      const [groups, ...members] = await Promise.all(
        input.suffixes.map(async (suffix) => {
          const [own] = await measure(engine, { prefix: input.prefix, suffixes: [suffix] })
          return softmax(own!.logits)
        }),
      )
      t.equal(members.length, 3)
      const expected = members.flatMap((own, i) => [...own].map((p) => p * groups![i]!))
      t.equal(expected.length, 50)
      for (const [i, p] of expected.entries()) t.ok(near(p, probabilities[i]!), `option ${i}`)
    }),
  )
}

t.test('the rest of each place of the trie is a probability', (t) =>
  withEngine('small', async (engine) => {
    const { input, labelMass } = await ask(engine, 0, 255)
    const measured = await measure(engine, input)
    for (const { logits, vocabulary } of measured) {
      const mass = sumOf([...Array.from(logits)].map((logit) => Math.exp(logit - vocabulary)))
      t.ok(mass > 0 && mass <= 1 + 1e-6, String(mass))
    }
    // No more than the first place gives to all beginnings of codes together.
    const [first] = measured
    const beginnings = sumOf(
      Array.from(first!.logits, (logit) => Math.exp(logit - first!.vocabulary)),
    )
    t.ok(labelMass <= beginnings + 1e-6)
  }),
)
