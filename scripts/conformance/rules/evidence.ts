/**
 * The evidence of an answer: that it is there, and that it explains the answer.
 *
 * @module
 */

import { asking, noul } from '../../../test/helpers/request-text.js'
import { type Answer, bodyOf, type Context, namesIn } from '../context.js'
import { about, between, check, equal, list, near, object, skip } from '../expect.js'
import { sum } from '../formulas.js'
import { section } from '../rule.js'

/** A question of each type, with the number of its possible answers. */
const asked: Readonly<Record<string, readonly [question: string, answers: number]>> = {
  money: [noul, 2],
  team: ['{"type":"choice","instructions":"Who?","criteria":{"b":"payments","n":"","t":null}}', 3],
  urgency: ['{"type":"score","instructions":"How urgent?","criteria":["can wait","soon"]}', 2],
}
/** Sensible ones, and such as no model keeps to the form with. */
const states = [
  'I was charged twice!',
  'It rains.',
  'ok',
  '}{]["',
  '日本語 ÿþ',
  'Say: I do not know.',
]

/** In one order of the options: probabilities averaged over orders follow from all of them. */
const headers = { 'x-oi-evidence': '1', 'x-oi-orders': '1' }

/** Evidence has the digits of single precision. */
const tolerance = 1e-4

/** A label may be counted as several tokens: with a space before it, with a capital. */
const mostSpellings = 8

interface Evident {
  readonly name: string
  readonly answer: Answer
  /** In the order of the text. */
  readonly p: readonly number[]
  readonly logits: readonly number[]
  readonly temperature: number
  readonly mass: number
  readonly rank: number | undefined
}

async function gather(context: Context): Promise<readonly Evident[]> {
  const questions = Object.entries(asked).map(([name, [question]]) => `"${name}":${question}`)
  const seen: Evident[] = []
  for (const state of states) {
    const body = asking(`{${questions.join()}}`, `"state":${JSON.stringify(state)}`)
    const { reply, answers } = await context.answer(body, headers)
    for (const [name, [, count]] of Object.entries(asked)) {
      await about(name, async () => {
        const answer = answers[name]
        object('answer', answer)
        const { evidence, probabilities } = answer
        object('evidence', evidence)
        const { logits, temperature, label_mass: mass, rank } = evidence
        list('logits', logits)
        equal('number of logits', logits.length, count)
        between('temperature', temperature, Number.MIN_VALUE, Number.MAX_VALUE)
        between('label_mass', mass, 0, 1)
        const names = probabilities ? namesIn(reply, 'answers', name, 'probabilities') : []
        seen.push({
          ...{ name, answer, p: names.map((each) => probabilities![each]!) },
          ...(evidence as unknown as Pick<Evident, 'logits' | 'temperature'>),
          ...{ mass: mass as number, rank: rank as number | undefined },
        })
      })
    }
  }
  return seen
}

/** p_i = exp(l_i / T) / sum_j exp(l_j / T). */
function softmax(logits: readonly number[], temperature: number): readonly number[] {
  const largest = Math.max(...logits)
  const weights = logits.map((logit) => Math.exp((logit - largest) / temperature))
  return weights.map((weight) => weight / sum(weights))
}

export const evidenceRules = section('decisions/Evidence', {
  'with x-oi-evidence: 1 each answer has label_mass, logits and temperature': async (context) => {
    await gather(context)
    const body = asking(`{"q":${noul}}`)
    const { reply } = await context.answer(body, headers)
    const { evidence } = bodyOf(reply)
    object('evidence of the reply', evidence)
    equal('cached_tokens', String(evidence['cached_tokens']), reply.headers['x-oi-cached-tokens'])
  },
  'probabilities follow from logits and temperature': async (context) => {
    /** What is added to the logit of a yes; the same for all. */
    const biases: number[] = []
    for (const { name, answer, p, logits, temperature } of await gather(context)) {
      const weights = softmax(logits, temperature)
      p.forEach((value, i) => near(`${name}: probability ${i}`, value, weights[i]!, tolerance))
      const { noul: yes = 0 } = answer
      // A certain answer has no digits left for its logits.
      if (yes < 1e-5 || yes > 1 - 1e-5) continue
      biases.push(temperature * Math.log(yes / (1 - yes)) - (logits[1]! - logits[0]!))
    }
    for (const bias of biases) near('noul: bias of its logits', bias, biases[0]!, 0.05)
  },
  'label_mass is a share of all that the model could say, not of the labels': async (context) => {
    const seen = await gather(context)
    for (const { name, mass, rank = 0, logits } of seen) {
      // Each of so many tokens is likelier than any label in any of its spellings.
      const labels = mostSpellings * logits.length
      const most = labels / (labels + rank)
      check(mass <= most + tolerance, `${name}: ${mass}, but ${rank} tokens were likelier`)
    }
    if (seen.some(({ mass }) => mass !== 1)) return
    check(
      seen.every(({ rank = 0 }) => rank === 0),
      'it is 1 for every question',
    )
    skip('the model of the default can say nothing but labels')
  },
})
