/**
 * JSON that is no request: 422, naming the place.
 */
import type { Row } from './bad-requests.js'
import { asking, choice, good, noul, one, score, withModel, withState } from './request-text.js'

const state = 'expected a string, an object, an array, a number or a boolean'
const questions = 'expected an object with at least one question'
const type = 'expected "noul", "choice" or "score"'
const sides = 'expected an object with the keys true and false'
const unasked = 'expected instructions or criteria, without them nothing is asked'
const twice = 'expected each name once, got it twice'
const criteria = 'questions.q.criteria'

/** What a message calls a value. */
function kindOf(json: string): string {
  if (json === 'null') return 'null'
  if (/^[[{]/.test(json)) {
    return `an ${json.length === 2 ? 'empty ' : ''}${json.startsWith('[') ? 'array' : 'object'}`
  }
  if (json.startsWith('"')) return 'a string'
  return /^[tf]/.test(json) ? 'a boolean' : 'a number'
}

/** Values of other types than the one that is expected. */
const values = (
  what: string,
  place: string,
  expected: string,
  bodyOf: (value: string) => string,
  wrong: readonly string[],
) =>
  wrong.map((value): Row => {
    const says = `${expected}, got ${kindOf(value)}`
    return [`${what} ${value.slice(0, 9)}`, bodyOf(value), place, says]
  })

/** Mistakes with the same message: body and place of each. */
const alike = (says: string, mistakes: Readonly<Record<string, readonly [string, string]>>) =>
  Object.entries(mistakes).map(([what, [body, place]]): Row => [what, body, place, says])

const sidesOf = (value: string) => one(`{"type":"noul","instructions":"a","criteria":${value}}`)

export const badShapes: readonly Row[] = [
  ...values('the body', 'body', 'expected an object', (body) => body, [
    ...['null', '[]', '"s"', '1', '1.0', 'true', `[${good}]`],
  ]),
  ...alike(`${state}, got nothing`, {
    'an empty object': ['{}', 'state'],
    'no state': [`{"questions":{"q":${noul}}}`, 'state'],
  }),
  ...values('a state of', 'state', state, withState, ['null']),
  ...alike(`${questions}, got nothing`, { 'no questions': ['{"state":"s"}', 'questions'] }),
  ...values('questions:', 'questions', questions, asking, [
    ...['{}', 'null', '[]', `[${noul}]`, '"q"', '1', '1.50', 'true'],
  ]),
  ...values('a model', 'model', 'expected a string', withModel, [
    ...['null', '7', '1e999', '[]', '{}', 'false'],
  ]),
  ...values('a question', 'questions.q', 'expected an object', one, [
    ...['null', '[]', '"noul"', '1', '2.0', 'true'],
  ]),
  ...alike(`${type}, got nothing`, {
    'an empty question': [one('{}'), 'questions.q.type'],
    'a type only by inheritance': [one('{"__proto__":{"type":"noul"}}'), 'questions.q.type'],
    'a question __proto__': [asking('{"__proto__":{}}'), 'questions.__proto__.type'],
  }),
  ...values('a type', 'questions.q.type', type, (value) => one(`{"type":${value}}`), [
    ...['null', '1', '[]', '{}', 'true', '["noul"]', '1.0'],
  ]),
  ...alike('expected an object of options, got nothing', {
    'a choice without criteria': [one('{"type":"choice"}'), criteria],
    'a question 7': [asking('{"7":{"type":"choice"}}'), 'questions["7"].criteria'],
  }),
  ...values('options', criteria, 'expected an object of options', choice, [
    ...['null', '[]', '["a","b"]', '"a"', '3', '3.0', 'true'],
  ]),
  ...alike('expected 1 to 255 options, got 0', { 'no options': [choice('{}'), criteria] }),
  ...alike('expected an array of levels, got nothing', {
    'a score without criteria': [one('{"type":"score"}'), criteria],
    'a question of no name': [asking('{"":{"type":"score"}}'), 'questions[""].criteria'],
  }),
  ...values('levels', criteria, 'expected an array of levels', score, [
    ...['null', '{}', '{"0":"a","1":"b"}', '"a"', '3', '3.0', 'true'],
  ]),
  ...alike('expected 1 to 255 levels, got 0', { 'no levels': [score('[]'), criteria] }),
  ...values(
    'a level of',
    `${criteria}[1]`,
    'expected what the level means',
    (value) => {
      return score(`["a",${value}]`)
    },
    ['null'],
  ),
  ...values('noul criteria', criteria, sides, sidesOf, ['[]', '{}', '"yes"', '1', '0.50', 'true']),
  ...alike('expected true, false or both, got "yes" and "no"', {
    'noul criteria of other names': [sidesOf('{"yes":"a","no":"b"}'), criteria],
  }),
  ...alike(unasked, {
    'a noul': [one('{"type":"noul"}'), 'questions.q'],
    'a noul of null': [one('{"type":"noul","instructions":null}'), 'questions.q'],
    'a noul of an empty text': [one('{"type":"noul","instructions":""}'), 'questions.q'],
    'a noul with criteria of null': [one('{"type":"noul","criteria":null}'), 'questions.q'],
    'a noul that says yes is null': [
      one('{"type":"noul","criteria":{"true":null}}'),
      'questions.q',
    ],
    'a noul whose sides are empty': [
      one('{"type":"noul","instructions":"","criteria":{"true":null,"false":""}}'),
      'questions.q',
    ],
    'the second question': [asking(`{"a":${noul},"b":{"type":"noul"}}`), 'questions.b'],
  }),
  ...alike('expected an object, got a number', {
    'a question of a dotted name': [asking('{"a.b":0}'), 'questions["a.b"]'],
    'a question of a quoted name': [asking('{"a\\"\\n":0}'), 'questions["a\\"\\n"]'],
    'a question of a long name': [
      asking(`{"${'n'.repeat(99)}":0}`),
      `questions["${'n'.repeat(39)}…"]`,
    ],
    'the first of two bad questions, 9': [asking('{"9":1,"1":[]}'), 'questions["9"]'],
  }),
  ...alike('expected an object, got null', {
    'a question __proto__ of null': [asking('{"__proto__":null}'), 'questions.__proto__'],
  }),
  ...alike('expected an object, got an empty array', {
    'a question constructor': [asking('{"constructor":[]}'), 'questions.constructor'],
  }),
  ...alike(`${type}, got a number`, {
    'a question toString': [asking('{"toString":{"type":1}}'), 'questions.toString.type'],
  }),
  ...alike(twice, {
    'a question twice': [asking(`{"q":${noul},"q":${noul}}`), 'questions.q'],
    'a question twice, once escaped': [asking(`{"q":${noul},"\\u0071":${noul}}`), 'questions.q'],
    'a question __proto__ twice': [
      asking(`{"__proto__":${noul},"__proto__":${noul}}`),
      'questions.__proto__',
    ],
    'a question 1 twice': [asking(`{"1":${noul},"a":${noul},"1":${noul}}`), 'questions["1"]'],
    'an option twice': [choice('{"a":1,"b":2,"a":3}'), `${criteria}.a`],
    'an option __proto__ twice': [choice('{"__proto__":1,"__proto__":2}'), `${criteria}.__proto__`],
    'an option 10 twice': [choice('{"10":1,"10":2}'), `${criteria}["10"]`],
    'an option of an odd name twice': [choice('{"a b":1,"a b":2}'), `${criteria}["a b"]`],
    'a state twice': [asking(`{"q":${noul}}`, '"state":"a","state":"b"'), 'state'],
    'a model twice': [asking(`{"q":${noul}}`, '"state":"a","model":"m","model":"m"'), 'model'],
    'an unknown field twice': [asking(`{"q":${noul}}`, '"state":"a","other":1,"other":2'), 'other'],
    'an asset twice': [asking(`{"q":${noul}}`, '"state":"a","assets":{"p":{},"p":{}}'), 'assets.p'],
    'a part of an asset twice': [
      asking(`{"q":${noul}}`, '"state":"a","assets":{"p":{"part":"a","part":"b"}}'),
      'assets.p.part',
    ],
    'instructions twice': [
      one('{"type":"noul","instructions":"a","instructions":"b"}'),
      'questions.q.instructions',
    ],
    'criteria twice': [one('{"type":"score","criteria":["a"],"criteria":[]}'), criteria],
    'the questions twice': [
      `{"state":"s","questions":{"q":${noul}},"questions":{"q":${noul}}}`,
      'questions',
    ],
    'a type twice': [one('{"type":"noul","type":"noul","instructions":1}'), 'questions.q.type'],
    'yes twice': [one('{"type":"noul","criteria":{"true":1,"true":2}}'), `${criteria}.true`],
  }),
]
