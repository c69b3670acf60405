/**
 * Sections 2.4 and 2.5: answers, their formulas and their usage.
 *
 * @module
 */

import { isJsonObject, parseJson, stringifyJson } from '../../../src/api/json.js'
import type { Json, JsonObject } from '../../../src/api/json.js'
import { asking, choice, noul, score, withState } from '../../../test/helpers/request-text.js'
import { type Answer, bodyOf, type Context, namesIn } from '../context.js'
import { between, check, equal, near, object, text, whole } from '../expect.js'
import { choiceConfidence, expectedLevel, likeliest, scoreConfidence, sum } from '../formulas.js'
import { type Check, section } from '../rule.js'

const options = '{"billing":"payments","9":"nine","technical":null,"1":"one","other":""}'
const optionNames = ['billing', '9', 'technical', '1', 'other']
const levelNames = ['0', '1', '2', '3', '4']
const grades = '["can wait",{"2":"b","1":"a"},[null],1.0,"today"]'
const isRepeated = (level: Json) =>
  typeof level === 'string' || Array.isArray(level) || isJsonObject(level)

/** A question of each type, so that one reply shows every promise about answers. */
const mixed = asking(
  `{"money":${noul},"team":{"type":"choice","instructions":"Who?","criteria":${options}},` +
    `"urgency":{"type":"score","criteria":${grades}}}`,
  '"state":"I was charged twice, and nobody answers."',
)
const types = { money: 'noul', team: 'choice', urgency: 'score' } as const
const fields = {
  noul: ['noul', 'type'],
  choice: ['choice', 'confidence', 'probabilities', 'type'],
  score: ['confidence', 'legend', 'probabilities', 'score', 'type'],
} as const

/** States with different answers, so that formulas are not tested on one distribution alone. */
const moods = ['It rains.', 'I was charged twice!', 'ok', '', '日本語', '{"a":1}']

const sumTolerance = 1e-9
/** Whether a number has more than 6 decimals. */
const isLong = (value = 0) => Math.abs(value * 1e6 - Math.round(value * 1e6)) > 1e-6
const formulaTolerance = 1e-6

interface Weighed {
  readonly names: readonly string[]
  readonly p: readonly number[]
  readonly answer: Answer
}

/**
 * Answers to one question about each of the states, with probabilities in the order of the text.
 */
async function weigh(context: Context, kind: 'choice' | 'score'): Promise<readonly Weighed[]> {
  const question =
    kind === 'choice'
      ? `{"type":"choice","instructions":"Which?","criteria":${options}}`
      : `{"type":"score","instructions":"How much?","criteria":${grades}}`
  const weighed: Weighed[] = []
  for (const mood of moods) {
    const body = asking(`{"q":${question}}`, `"state":${JSON.stringify(mood)}`)
    const { reply, answers } = await context.answer(body)
    const answer = answers['q']
    object('answers.q', answer)
    object('probabilities', answer.probabilities)
    const names = namesIn(reply, 'answers', 'q', 'probabilities')
    const p = names.map((name) => answer.probabilities![name]!)
    weighed.push({ names, p, answer })
  }
  return weighed
}

const both = ['choice', 'score'] as const

/** The check of every answer to a choice, to a score, or to both. */
const ofEach =
  (
    kinds: readonly ('choice' | 'score')[],
    look: (weighed: Weighed, kind: 'choice' | 'score') => void,
  ): Check =>
  async (context) => {
    for (const kind of kinds) {
      for (const weighed of await weigh(context, kind)) look(weighed, kind)
    }
  }

const pick = '{"type":"choice","instructions":"Which?","criteria":{"a":"rain","b":"sun","c":null}}'

/** The original text of one member of the body. */
const writtenIn = (value: Json, ...path: string[]) =>
  stringifyJson(path.reduce((at, step) => (at as JsonObject)[step]!, value))

export const answerRules = [
  ...section('2.4', {
    'the body has model, answers, usage and latency_ms, and nothing else': async (context) => {
      const { reply } = await context.answer(mixed)
      const body = bodyOf(reply)
      equal('fields', Object.keys(body).sort(), ['answers', 'latency_ms', 'model', 'usage'])
      text('model', body['model'])
      between('latency_ms', body['latency_ms'], 0, Number.MAX_VALUE)
    },
    'usage has whole numbers: input and output tokens; image tokens only with images': async (
      context,
    ) => {
      const { usage } = await context.answer(mixed)
      equal('fields', Object.keys(usage).sort(), ['input_tokens', 'output_tokens'])
      whole('input_tokens', usage['input_tokens'], 1)
      whole('output_tokens', usage['output_tokens'], 1)
    },
    'the type of the reply is application/json': async (context) => {
      const { reply } = await context.answer(mixed)
      text('content-type', reply.headers['content-type'], /^application\/json\b/)
    },
  }),
  ...section('2.5', {
    'every question is answered with its own type': async (context) => {
      const { answers } = await context.answer(mixed)
      const answered = Object.entries(answers).map(([name, answer]) => [name, answer?.type])
      equal('types', Object.fromEntries(answered), types)
    },
    'an answer has the fields of its type, and nothing else': async (context) => {
      const { answers } = await context.answer(mixed)
      for (const [name, type] of Object.entries(types)) {
        const answer = answers[name]
        object(name, answer)
        equal(`fields of ${name}`, Object.keys(answer).sort(), fields[type])
      }
    },
    'noul is a probability': async (context) => {
      for (const mood of moods) {
        const { noul } = await context.answerOne(withState(JSON.stringify(mood)))
        between('noul', noul, 0, 1)
      }
    },
    'probabilities are from 0 to 1, one for each option or level': ofEach(
      both,
      ({ names, p }, kind) => {
        const expected = kind === 'choice' ? optionNames : levelNames
        equal(`names of a ${kind}`, names.toSorted(), expected.toSorted())
        for (const value of p) between(`probability in a ${kind}`, value, 0, 1)
      },
    ),
    'legend echoes texts, objects and arrays as sent, other levels as their JSON': async (
      context,
    ) => {
      const { reply } = await context.answer(score(grades))
      const written = parseJson(reply.text)
      const levels = parseJson(grades) as Json[]
      equal('names', namesIn(reply, 'answers', 'q', 'legend'), levelNames)
      levels.forEach((level, i) =>
        equal(
          `level ${i}`,
          writtenIn(written, 'answers', 'q', 'legend', `${i}`),
          isRepeated(level) ? stringifyJson(level) : JSON.stringify(stringifyJson(level)),
        ),
      )
    },
  }),
  ...section('decisions/Responses', {
    'probabilities sum to 1 within 1e-9': ofEach(both, ({ p }) =>
      near('sum', sum(p), 1, sumTolerance),
    ),
    'probabilities are not rounded': async (context) => {
      let long = 0
      const count = ({ p }: Weighed) => {
        long += p.filter(isLong).length
      }
      await ofEach(both, count)(context)
      check(long > 0, 'all of them have at most 6 decimals')
    },
    'the probability of a noul is not rounded': async (context) => {
      const nouls: (number | undefined)[] = []
      for (const mood of moods) {
        nouls.push((await context.answerOne(withState(JSON.stringify(mood)))).noul)
      }
      check(nouls.some(isLong), `all of them have at most 6 decimals: ${nouls.join(', ')}`)
    },
    'choice is the likeliest option, the earliest of a tie': ofEach(
      ['choice'],
      ({ names, p, answer }) => equal('choice', answer.choice, names[likeliest(p)]),
    ),
    'choice is the likeliest option, however close the second is': async (context) => {
      // Many options lie close together, whatever the model is.
      const { max_options: most = 2 } = (await context.card()).limits
      for (const count of [3, 5, 8, 13, 21, 34, 64, most].filter((each) => each <= most)) {
        const listed = Array.from({ length: count }, (_, i) => `"${i} of them":null`).join()
        const question = `{"type":"choice","instructions":"Which?","criteria":{${listed}}}`
        for (const mood of moods.slice(0, 3)) {
          const body = asking(`{"q":${question}}`, `"state":${JSON.stringify(mood)}`)
          const { choice: chosen = '', probabilities = {} } = await context.answerOne(body)
          const largest = Math.max(...Object.values(probabilities))
          equal(`probability of the choice, of ${count}`, probabilities[chosen], largest)
        }
      }
    },
    'score is the expected level': ofEach(['score'], ({ p, answer }) =>
      near('score', answer.score, expectedLevel(p), formulaTolerance),
    ),
    'confidence of a choice follows its formula': ofEach(['choice'], ({ p, answer }) =>
      near('confidence', answer.confidence, choiceConfidence(p), formulaTolerance),
    ),
    'confidence of a score follows its formula': ofEach(['score'], ({ p, answer }) =>
      near('confidence', answer.confidence, scoreConfidence(p), formulaTolerance),
    ),
    'levels are keyed by their index, in order': ofEach(['score'], ({ names }) =>
      equal('names', names, levelNames),
    ),
    'usage: more text has more input tokens, and more answers more output tokens': async (
      context,
    ) => {
      const one = await context.answer(withState('"It rains."'))
      const longer = await context.answer(withState(`"${'It rains today. '.repeat(20)}"`))
      const more = await context.answer(choice(options))
      check(
        longer.usage['input_tokens']! > one.usage['input_tokens']!,
        `input_tokens: ${longer.usage['input_tokens']} of a longer state`,
      )
      check(
        more.usage['output_tokens']! > one.usage['output_tokens']!,
        `output_tokens: ${more.usage['output_tokens']} of five options`,
      )
    },
    'usage: what was sent is counted once, however many questions and orders read it': async (
      context,
    ) => {
      const long = 'It rains on the old road to the sea. '.repeat(40)
      const tokens = async (state: string, questions: number, orders = '1') => {
        const asked = Array.from({ length: questions }, (_, i) => `"q${i}":${pick}`)
        const body = asking(`{${asked.join()}}`, `"state":"${state}"`)
        const { usage } = await context.answer(body, { 'x-oi-orders': orders })
        return usage['input_tokens']!
      }
      const one = await tokens(long, 1)
      const [two, eight] = [await tokens(long, 2), await tokens(long, 8)]
      equal('tokens of seven more questions, in those of one more', (eight - one) / (two - one), 7)
      const short = (await tokens('s', 2)) - (await tokens('s', 1))
      equal('tokens of one more question about a longer state', two - one, short)
      for (const orders of ['2', 'all']) {
        equal(`tokens with x-oi-orders: ${orders}`, await tokens(long, 1, orders), one)
      }
    },
    'usage: cached tokens are counted inside input tokens, never subtracted': async (context) => {
      const body = withState(`"${'Asked twice. '.repeat(30)}"`)
      const first = await context.answer(body)
      const second = await context.answer(body)
      equal('input_tokens', second.usage['input_tokens'], first.usage['input_tokens'])
      for (const { usage, reply } of [first, second]) {
        const header = reply.headers['x-oi-cached-tokens']
        text('x-oi-cached-tokens', header, /^\d+$/)
        between('x-oi-cached-tokens', Number(header), 0, usage['input_tokens']!)
      }
    },
    'latency_ms equals model in server-timing': async (context) => {
      const { reply, latency_ms } = await context.answer(mixed)
      const [, shown = ''] =
        /(?:^|,)\s*model;dur=([\d.]+)/.exec(reply.headers['server-timing'] ?? '') ?? []
      const decimals = shown.split('.')[1]?.length ?? 0
      near('latency_ms', latency_ms, Number.parseFloat(shown), 0.51 * 10 ** -decimals)
    },
  }),
]
