/**
 * Decision models in their own formats, on fixtures of random weights with their metadata: prompt,
 * labels, temperature and answers of each supported family, and the refusal of each other one.
 *
 * Needs the built addon; fixtures are made on first use. Expected values are computed here from the
 * logits of the whole prompt in one piece, in single precision: bound 1e-3.
 */
import t from 'tap'
import type { Answer, Question } from '../../src/decide/types.js'
import type { Oi } from '../../src/oi.js'
import { open } from '../../src/open.js'
import { createReadout } from '../../src/prompt/readout.js'
import { fixturePath, openEngine } from '../helpers/fixture.js'

const options = { contextTokens: 2048, threads: 1 }
const end = '<|im_end|>\n<|im_start|>assistant\n'
const closed = `${end}<think>\n\n</think>\n\n`
const state = 'The parcel is late.'

const noul: Question = { type: 'noul', instructions: 'Is it late?', criteria: { true: 'delayed' } }
const choice: Question = {
  type: 'choice',
  instructions: 'Who?',
  criteria: { mail: 'the post', shop: null, none_of_them: null },
}
const score: Question = {
  type: 'score',
  instructions: 'How bad?',
  criteria: ['not', 'a bit', 'very'],
}

interface Golden {
  readonly question: Question
  /** Whole prompts, one for each order. */
  readonly prompts: readonly string[]
  /** For each option: the forms of its label. The same in each order. */
  readonly labels: readonly (readonly string[])[]
  readonly temperature: number
}

const letters = (count: number) => [...'ABCDEFGHI'].slice(0, count).map((label) => [label])
const spaced = (count: number) => letters(count).map(([label]) => [label!, ` ${label}`])

const systemOf = (text: string) => `<|im_start|>system\n${text}<|im_end|>\n<|im_start|>user\n`
const openJev = (rest: string) =>
  `${systemOf('Decide by the facts alone.')}Facts:\n${state}\n\nTask: ${rest}\n\nOne letter.${closed}`
const lev = (rest: string) =>
  `${systemOf('Rate and choose.')}## Case\n${state}\n\n## Criterion\n${rest}\n${closed}`
const nimble = (asks: string, codes: string) =>
  `${systemOf('Fill in one field with a one-letter code.')}{"input": "${state}", ` +
  `"fields": [{"field": "question", "asks": "${asks}", "codes": [${codes}]}]}\n\n` +
  `Field: "question"${closed}`
const pplx = (rest: string) =>
  `${systemOf('Answer with a code.')}Given:\n${state}\n\nAsked:\n${rest}\n\nOne code.${closed}`
const d1 = (rest: string) => `<|im_start|>user\n${state}\n\n\nASKED:\n${rest}${end}`

const goldens: Readonly<Record<string, readonly Golden[]>> = {
  openjev: [
    {
      question: noul,
      prompts: [openJev('Is it late?\nA) yes: delayed\nB) no')],
      labels: [['B'], ['A']],
      temperature: 1.5,
    },
    {
      question: choice,
      prompts: [openJev('Who?\nA) mail: the post\nB) shop\nC) none_of_them')],
      labels: letters(3),
      temperature: 0.85,
    },
    {
      question: score,
      prompts: [openJev('How bad?\nA) 0: not\nB) 1: a bit\nC) 2: very')],
      labels: letters(3),
      temperature: 0.9,
    },
  ],
  lev: [
    {
      question: noul,
      prompts: [
        lev(
          'Is it late?\n\n## Ratings\n0 is surely no, 8 is surely yes\nyes means delayed\n\nGive a digit.',
        ),
      ],
      labels: letters(9),
      temperature: 1.6,
    },
    {
      question: choice,
      prompts: [
        'A. mail: the post\nB. shop\nC. none_of_them\n',
        'A. none_of_them\nB. shop\nC. mail: the post\n',
      ].map((list) => lev(`Who?\n\n## Options\n${list}\nGive a letter.`)),
      labels: letters(3),
      temperature: 0.8,
    },
    {
      question: score,
      prompts: [
        lev(
          'How bad?\n\n## Options\nA. level 0: not\nB. level 1: a bit\nC. level 2: very\n\nGive a letter.',
        ),
      ],
      labels: letters(3),
      temperature: 0.9,
    },
  ],
  nimble: [
    {
      question: noul,
      prompts: [
        nimble(
          'Is it late?',
          '{"code": "A", "value": false}, {"code": "B", "value": true, "means": "delayed"}',
        ),
      ],
      labels: letters(2),
      temperature: 1,
    },
    {
      question: choice,
      prompts: [
        nimble(
          'Who?',
          '{"code": "A", "value": "mail", "means": "the post"}, ' +
            '{"code": "B", "value": "shop"}, {"code": "C", "value": "none_of_them"}',
        ),
      ],
      labels: letters(3),
      temperature: 1,
    },
  ],
  'pplx-decider': [
    {
      question: noul,
      prompts: [pplx('Is it late?\n\nCodes:\nA: no, it is not\nB: delayed')],
      labels: letters(2),
      temperature: 1.3,
    },
    {
      question: choice,
      prompts: [pplx('Who?\n\nCodes:\nA: mail: the post\nB: shop\nC: none_of_them')],
      labels: letters(3),
      temperature: 1.3,
    },
  ],
  'lfm2-d1': [
    {
      question: noul,
      prompts: [d1('Is it late?\nYes: delayed\n\nyes or no.')],
      labels: [
        ['no', 'No', 'NO'],
        ['yes', 'Yes', 'YES'],
      ],
      temperature: 1.5,
    },
    {
      question: choice,
      prompts: [d1('Who?\n\nCodes:\nA the post\nB shop\nC none of them\n\nA code.')],
      labels: spaced(3),
      temperature: 1.4,
    },
    {
      question: score,
      prompts: [d1('How bad?\n\n0 not\n1 a bit\n2 very\n\nA digit.')],
      labels: [['0'], ['1'], ['2']],
      temperature: 1.6,
    },
  ],
}

const modelOf = (decision: string) => fixturePath('small', { decision })

for (const [type, cases] of Object.entries(goldens)) {
  t.test(`${type}: prompt, labels, temperature and answer`, async (t) => {
    await using oi = await open({ ...options, model: await modelOf(type) })
    t.equal(oi.card.readout, `${type}@1`)
    const engine = await openEngine({ ...options, modelPath: await modelOf(type) })
    t.teardown(() => engine.close())
    const readout = await createReadout(engine)

    for (const golden of cases) {
      const { question, prompts, temperature } = golden
      const { input } = readout.render({ state, questions: { it: question } })
      const shown = input.suffixes.map(({ parts }) => [...input.prefix, ...parts])
      t.strictSame(
        shown.map((parts) => parts.map(({ text }) => text).join('')),
        prompts,
        `${question.type}: prompt`,
      )
      for (const [i, parts] of shown.entries()) {
        const [whole, ...tokens] = await engine.tokenize([
          { text: prompts[i]!, trusted: true },
          ...parts,
        ])
        t.strictSame(
          tokens.flatMap((ids) => [...ids]),
          [...whole!],
          `${question.type}: tokens`,
        )
      }

      const { answers } = await oi.decide(
        { state, questions: { it: question } },
        { evidence: true },
      )
      const answer = answers['it']
      t.equal(answer.evidence?.temperature, temperature, `${question.type}: temperature`)
      const expected = await expectedProbabilities(oi, golden)
      const given = probabilitiesOf(answer)
      if (question.type === 'noul') {
        const last = expected.length - 1
        const noul = expected.reduce((sum, p, i) => sum + (p * i) / last, 0)
        t.ok(Math.abs(given[0]! - noul) < 1e-3, `noul ${given[0]}, expected ${noul}`)
      } else {
        t.equal(given.length, expected.length)
        for (const [i, p] of expected.entries()) {
          t.ok(Math.abs(given[i]! - p) < 1e-3, `option ${i}: ${given[i]}, expected ${p}`)
        }
      }
    }
  })
}

/** From the logits of each whole prompt; those of a second order are reversed. */
async function expectedProbabilities(
  oi: Oi,
  { prompts, labels, temperature }: Golden,
): Promise<number[]> {
  const forms = labels.flat().map((text) => ({ text, trusted: false }))
  const tokens = (await oi.tokenize(forms)).map((ids) => ids[0]!)
  const mean = labels.map(() => 0)
  for (const [order, text] of prompts.entries()) {
    // Cut at a control token, which never merges with other text.
    const cut = text.lastIndexOf('<|im_end|>')
    const part = (text: string) => ({ text, trusted: true })
    const { logits } = await oi.score({
      prefix: [part(text.slice(0, cut))],
      suffixes: [{ parts: [part(text.slice(cut))], candidates: Int32Array.from(tokens) }],
    })
    let at = 0
    const best = labels.map((own) => Math.max(...own.map(() => logits[at++]!)))
    const weights = best.map((logit) => Math.exp((logit - Math.max(...best)) / temperature))
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    for (const [i, weight] of weights.entries()) {
      mean[order === 0 ? i : labels.length - 1 - i]! += weight / total / prompts.length
    }
  }
  return mean
}

function probabilitiesOf(answer: Answer): readonly number[] {
  return answer.type === 'noul' ? [answer.noul] : Object.values(answer.probabilities)
}
