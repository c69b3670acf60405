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
import type { Context } from '../context.js'
import { about, check, equal, near, sameAnswer, text } from '../expect.js'
import { section } from '../rule.js'

const question = 'questions.q'
const criteria = 'questions.q.criteria'

/** Any JSON value. */
const anything = [
  ...['"text"', '""', 'null', '0', '1.50', 'true', 'false', '[]', '{}', '["a",{"b":[null]}]'],
]

async function refuseAll(
  context: Context,
  bodies: readonly string[],
  status: number,
  place: string,
): Promise<void> {
  for (const body of bodies) await about(body, () => context.refuse(body, status, place))
}

/** How many of them a model takes, at most 255. */
async function most(context: Context, limit: string): Promise<number> {
  return Math.min(255, (await context.card()).limits[limit] ?? 0)
}

const tooMany = (message: string, limit: number, got: number) =>
  check(
    message.includes(String(limit)) && message.includes(String(got)),
    `expected the limit ${limit} and the count ${got} in "${message}"`,
  )

export const questionRules = [
  ...section('2.2', {
    'a question that is no object is refused with 422': async (context) => {
      const bodies = ['null', '[]', '"noul"', '1', 'true'].map(one)
      await refuseAll(context, bodies, 422, question)
    },
    'type: absent or no string is refused with 422': async (context) => {
      const bodies = ['{}', '{"instructions":"a"}', '{"type":null}', '{"type":["noul"]}'].map(one)
      await refuseAll(context, bodies, 422, question)
    },
    'type: unknown is refused with 400': async (context) => {
      const bodies = ['', 'Noul', 'bool', ' noul', '__proto__'].map((type) =>
        one(`{"type":"${type}","instructions":"a","criteria":{"a":1}}`),
      )
      await refuseAll(context, bodies, 400, question)
      // A place in an image, which other servers of this interface support.
      await context.refuse(one('{"type":"box","instructions":"the cup"}'), 400, '"box"')
    },
    'instructions: any JSON value is taken': async (context) => {
      for (const value of anything) {
        const body = one(`{"type":"choice","instructions":${value},"criteria":{"a":1,"b":2}}`)
        await about(value, () => context.answer(body))
      }
    },
    'instructions: may be absent where criteria ask': async (context) => {
      await context.answer(one('{"type":"noul","criteria":{"true":"it rains"}}'))
      await context.answer(choice('{"a":1,"b":2}'))
      await context.answer(score('["a","b"]'))
    },
    'criteria of noul: one or both of true and false, any JSON value': async (context) => {
      for (const value of ['{"true":"yes"}', '{"false":{"a":[1]}}', '{"true":null,"false":0}']) {
        const body = one(`{"type":"noul","instructions":"Is it?","criteria":${value}}`)
        await about(value, () => context.answer(body))
      }
    },
    'criteria of noul: anything but an object is refused with 422': async (context) => {
      const bodies = ['[]', '"yes"', '1', 'true'].map((value) =>
        one(`{"type":"noul","instructions":"a","criteria":${value}}`),
      )
      await refuseAll(context, bodies, 422, criteria)
    },
    'criteria of noul: neither true nor false is refused with 422': async (context) => {
      await context.refuse(one('{"type":"noul","instructions":"a","criteria":{}}'), 422, criteria)
      const misspelt = one('{"type":"noul","instructions":"a","criteria":{"yes":1,"no":2}}')
      const { message } = await context.refuse(misspelt, 422, criteria)
      text('error.message', message, /"yes".*"no"/)
    },
    'criteria of choice: absent or no object is refused with 422': async (context) => {
      const values = ['null', '[]', '["a","b"]', '"a"', '3', 'true'].map(choice)
      await refuseAll(context, [one('{"type":"choice"}'), ...values], 422, criteria)
    },
    'criteria of choice: any JSON value describes an option': async (context) => {
      const options = anything.map((value, i) => `"o${i}":${value}`).join()
      const { probabilities } = await context.answerOne(choice(`{${options}}`))
      equal('options', Object.keys(probabilities ?? {}).length, anything.length)
    },
    'criteria of choice: no options are refused with 422': async (context) => {
      await context.refuse(choice('{}'), 422, criteria)
    },
    'criteria of choice: as many options as the model takes are answered': async (context) => {
      const count = await most(context, 'max_options')
      const { probabilities } = await context.answerOne(choice(names(count, 'null')))
      equal('options', Object.keys(probabilities ?? {}).length, count)
    },
    'criteria of choice: more are refused with 400': async (context) => {
      const limit = await most(context, 'max_options')
      for (const count of [limit + 1, 300]) {
        const { message } = await context.refuse(choice(names(count, 'null')), 400, criteria)
        tooMany(message, limit, count)
      }
    },
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
    'criteria of score: absent or no array is refused with 422': async (context) => {
      const values = ['null', '{}', '{"0":"a","1":"b"}', '"a"', '3', 'true'].map(score)
      await refuseAll(context, [one('{"type":"score"}'), ...values], 422, criteria)
    },
    'criteria of score: any JSON value but null describes a level': async (context) => {
      const given = anything.filter((value) => value !== 'null')
      const { probabilities } = await context.answerOne(score(`[${given.join()}]`))
      equal('levels', Object.keys(probabilities ?? {}).length, given.length)
      await context.refuse(score('["a",null]'), 422, `${criteria}[1]`)
    },
    'criteria of score: no levels are refused with 422': async (context) => {
      await context.refuse(score('[]'), 422, criteria)
    },
    'criteria of score: as many levels as the model takes are answered': async (context) => {
      const count = await most(context, 'max_levels')
      const { probabilities } = await context.answerOne(score(levels(count)))
      equal('levels', Object.keys(probabilities ?? {}).length, count)
    },
    'criteria of score: more are refused with 400': async (context) => {
      const limit = await most(context, 'max_levels')
      for (const count of [limit + 1, 300]) {
        const { message } = await context.refuse(score(levels(count)), 400, criteria)
        tooMany(message, limit, count)
      }
    },
  }),
  ...section('decisions/Requests', {
    'a noul without instructions and criteria is refused with 422': async (context) => {
      const bodies = ['', ',"instructions":null', ',"criteria":{}', ',"criteria":null'].map(
        (rest) => one(`{"type":"noul"${rest}}`),
      )
      await refuseAll(context, bodies, 422, question)
    },
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
      tooMany(message, limit, limit + 1)
    },
  }),
]
