/** Real decoders, as far as `npm run fetch-model` has brought them. */
import t from 'tap'
import { existsSync } from 'node:fs'
import { open } from '../../src/index.js'
import {
  type RealModelName,
  realModelPath,
  realModels,
} from '../../scripts/fetch-model/real-models.js'

const state =
  'Dear team, my parcel was due on Monday. It has not come, and nobody answers the telephone. ' +
  'I have ordered from you for years and this is the first time that something went wrong.'
const questions = {
  late: { type: 'noul', instructions: 'Is the parcel late?' },
  tone: {
    type: 'choice',
    instructions: 'What is the tone of the letter?',
    criteria: { friendly: 'warm', angry: 'full of rage', matter_of_fact: 'calm and to the point' },
  },
  urgency: {
    type: 'score',
    instructions: 'How urgent is it?',
    criteria: ['can wait', 'this week', 'today'],
  },
} as const
const further = { known: { type: 'noul', instructions: 'Has the writer ordered before?' } } as const

async function answersOf(model: string, kernels: 'auto' | 'off', alsoBefore = false) {
  const oi = await open({ model, kernels, contextTokens: 2048 })
  try {
    if (alsoBefore) await oi.decide({ state, questions: further })
    const { answers, cached_tokens: cachedTokens } = await oi.decide(
      { state, questions },
      { evidence: true },
    )
    const { late, tone, urgency } = answers
    return {
      cachedTokens,
      info: oi.info,
      probabilities: [
        late.noul,
        ...Object.values(tone.probabilities),
        ...Object.values(urgency.probabilities),
      ],
      masses: [late, tone, urgency].map(({ evidence }) => evidence!.label_mass),
    }
  } finally {
    await oi.close()
  }
}

const furthest = (a: readonly number[], b: readonly number[]) =>
  Math.max(...a.map((value, i) => Math.abs(value - b[i]!)))

for (const name of Object.keys(realModels) as RealModelName[]) {
  const path = realModelPath(name)
  const skip = !existsSync(path) && `npm run fetch-model -- ${name}`
  t.test(
    `${name}: own kernels answer as llama.cpp's, from a known state too`,
    { skip },
    async (t) => {
      const cold = await answersOf(path, 'auto')
      const stock = await answersOf(path, 'off')
      const warm = await answersOf(path, 'auto', true)
      t.notMatch(cold.info.kernels, /without/, 'all its weights have a kernel')
      t.equal(cold.cachedTokens, 0)
      t.ok(warm.cachedTokens > 40)
      // Both round activations, llama.cpp by far coarser where weights have two bits.
      t.ok(furthest(cold.probabilities, stock.probabilities) < 0.15)
      t.ok(furthest(cold.probabilities, warm.probabilities) < 0.01)
      t.ok(Math.min(...cold.masses) > 0.1, 'the model answers in the form that it is asked for')
    },
  )
}
