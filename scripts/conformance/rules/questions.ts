/**
 * Section 2.2: questions and their criteria.
 *
 * @module
 */

import {
  asking,
  choice,
  levels,
  names,
  noul,
  one,
  score,
} from '../../../test/helpers/request-text.js'
import { type Context, refused } from '../context.js'
import { each, equal, near, sameAnswer, saysNumbers, text } from '../expect.js'
import { type Check, section } from '../rule.js'

const question = 'questions.q'
const criteria = 'questions.q.criteria'

/** Any JSON value. */
const anything = [
  ...['"text"', '""', 'null', '0', '1.50', 'true', 'false', '[]', '{}', '["a",{"b":[null]}]'],
]

/** The checks of what there may be many of, of which a model takes so many, at most 255. */
function many(limit: string, of: (count: number) => string): { answered: Check; refused: Check } {
  const most = async (context: Context) => Math.min(255, (await context.card()).limits[limit] ?? 0)
  return {
    answered: async (context) => {
      const count = await most(context)
      const { probabilities } = await context.answerOne(of(count))
      equal('probabilities', Object.keys(probabilities ?? {}).length, count)
    },
    refused: async (context) => {
      const taken = await most(context)
      for (const count of [taken + 1, 300]) {
        const { message } = await context.refuse(of(count), 400, criteria)
        saysNumbers(message, taken, count)
      }
    },
  }
}

const options = many('max_options', (count) => choice(names(count, 'null')))
const grades = many('max_levels', (count) => score(levels(count)))

/** The check that whatever JSON value stands in a body, it is answered. */
const answersAll =
  (values: readonly string[], bodyWith: (value: string) => string): Check =>
  (context) =>
    each(values, (value) => context.answer(bodyWith(value)))

export const questionRules = [
  ...section('2.2', {
    'a question that is no object is refused with 422': refused(
      422,
      question,
      ['null', '[]', '"noul"', '1', 'true'].map(one),
    ),
    'type: absent or no string is refused with 422': refused(
      422,
      question,
      ['{}', '{"instructions":"a"}', '{"type":null}', '{"type":["noul"]}'].map(one),
    ),
    'type: unknown is refused with 400': async (context) => {
      const bodies = ['', 'Noul', 'bool', ' noul', '__proto__'].map((type) =>
        one(`{"type":"${type}","instructions":"a","criteria":{"a":1}}`),
      )
      await refused(400, question, bodies)(context)
      // A place in an image, which other servers of this interface support.
      await context.refuse(one('{"type":"box","instructions":"the cup"}'), 400, '"box"')
    },
    'instructions: any JSON value is taken': answersAll(anything, (value) =>
      one(`{"type":"choice","instructions":${value},"criteria":{"a":1,"b":2}}`),
    ),
    'instructions: may be absent where criteria ask': async (context) => {
      await context.answer(one('{"type":"noul","criteria":{"true":"it rains"}}'))
      await context.answer(choice('{"a":1,"b":2}'))
      await context.answer(score('["a","b"]'))
    },
    'criteria of noul: one or both of true and false, any JSON value': answersAll(
      ['{"true":"yes"}', '{"false":{"a":[1]}}', '{"true":null,"false":0}'],
      (value) => one(`{"type":"noul","instructions":"Is it?","criteria":${value}}`),
    ),
    'criteria of noul: anything but an object is refused with 422': refused(
      422,
      criteria,
      ['[]', '"yes"', '1', 'true'].map((value) =>
        one(`{"type":"noul","instructions":"a","criteria":${value}}`),
      ),
    ),
    'criteria of noul: neither true nor false is refused with 422': async (context) => {
      await context.refuse(one('{"type":"noul","instructions":"a","criteria":{}}'), 422, criteria)
      const misspelt = one('{"type":"noul","instructions":"a","criteria":{"yes":1,"no":2}}')
      const { message } = await context.refuse(misspelt, 422, criteria)
      text('error.message', message, /"yes".*"no"/)
    },
    'criteria of choice: absent or no object is refused with 422': refused(422, criteria, [
      one('{"type":"choice"}'),
      ...['null', '[]', '["a","b"]', '"a"', '3', 'true'].map(choice),
    ]),
    'criteria of choice: any JSON value describes an option': async (context) => {
      const options = anything.map((value, i) => `"o${i}":${value}`).join()
      const { probabilities } = await context.answerOne(choice(`{${options}}`))
      equal('options', Object.keys(probabilities ?? {}).length, anything.length)
    },
    'criteria of choice: no options are refused with 422': refused(422, criteria, [choice('{}')]),
    'criteria of choice: as many options as the model takes are answered': options.answered,
    'criteria of choice: more are refused with 400': options.refused,
    'criteria of choice: null and "" mean by its name alone': async (context) => {
      const asked = (...values: readonly string[]) =>
        choice(
          `{${['billing', 'sales', 'other'].map((name, i) => `"${name}":${values[i]}`).join()}}`,
        )
      const alike = async (body: string) => (await context.answerOne(body)).probabilities ?? {}
      const byName = await alike(asked('null', 'null', 'null'))
      for (const values of [
        ['""', '""', '""'],
        ['""', 'null', '""'],
      ]) {
        const probabilities = await alike(asked(...values))
        for (const [name, value] of Object.entries(byName)) {
          near(`${values.join()}: ${name}`, probabilities[name], value, sameAnswer)
        }
      }
    },
    'criteria of score: absent or no array is refused with 422': refused(422, criteria, [
      one('{"type":"score"}'),
      ...['null', '{}', '{"0":"a","1":"b"}', '"a"', '3', 'true'].map(score),
    ]),
    'criteria of score: any JSON value but null describes a level': async (context) => {
      const given = anything.filter((value) => value !== 'null')
      const { probabilities } = await context.answerOne(score(`[${given.join()}]`))
      equal('levels', Object.keys(probabilities ?? {}).length, given.length)
      await context.refuse(score('["a",null]'), 422, `${criteria}[1]`)
    },
    'criteria of score: no levels are refused with 422': refused(422, criteria, [score('[]')]),
    'criteria of score: as many levels as the model takes are answered': grades.answered,
    'criteria of score: more are refused with 400': grades.refused,
  }),
  ...section('decisions/Requests', {
    'a noul without instructions and criteria is refused with 422': refused(
      422,
      question,
      ['', ',"instructions":null', ',"criteria":{}', ',"criteria":null'].map((rest) =>
        one(`{"type":"noul"${rest}}`),
      ),
    ),
    'one option has probability 1 and confidence 1': async (context) => {
      const answer = await context.answerOne(choice('{"only":null}'))
      equal('answer', answer, {
        type: 'choice',
        choice: 'only',
        probabilities: { only: 1 },
        confidence: 1,
      })
    },
    'one level has probability 1 and confidence 1': async (context) => {
      const answer = await context.answerOne(score('["only"]'))
      equal('answer', answer, {
        type: 'score',
        score: 0,
        probabilities: { 0: 1 },
        legend: { 0: 'only' },
        confidence: 1,
      })
    },
  }),
  ...section('8', {
    'as many questions as the model takes are answered': async (context) => {
      const { max_questions: count = 0 } = (await context.card()).limits
      const { answers } = await context.answer(asking(names(count, noul)))
      equal('answers', Object.keys(answers).length, count)
    },
    'more questions are refused with 400': async (context) => {
      const { max_questions: limit = 0 } = (await context.card()).limits
      const body = asking(names(limit + 1, noul))
      const { message } = await context.refuse(body, 400, 'questions')
      saysNumbers(message, limit, limit + 1)
    },
  }),
]
