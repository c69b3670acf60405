/** Valid request bodies, and the errors of all others. */
import t from 'tap'
import { keysOf } from '../../src/api/json.js'
import { checkRequest, readRequest } from '../../src/api/read-request.js'
import type { RequestLimits } from '../../src/api/counts.js'

const limits: RequestLimits = { maxQuestions: 4, maxOptions: 255, maxLevels: 26 }

const ask = (question: string, name = '"q"') => `{"state":"s","questions":{${name}:${question}}}`
const noul = '{"type":"noul","instructions":"Is it?"}'
const options = (count: number) =>
  `{${Array.from({ length: count }, (_, i) => `"o${i}":null`).join()}}`
const levels = (count: number) => `[${Array<string>(count).fill('"x"').join()}]`

t.test('accepted bodies', async (t) => {
  for (const text of [
    ask(noul),
    ask('{"type":"noul","criteria":{"true":"it rains"}}'),
    ask('{"type":"noul","criteria":{"false":"it is dry"}}'),
    ask('{"type":"noul","instructions":"Is it?","criteria":null}'),
    ask('{"type":"noul","instructions":{"a":[1.0]},"criteria":{"true":null,"else":1}}'),
    ask('{"type":"choice","criteria":{"a":null}}'),
    ask('{"type":"choice","instructions":null,"criteria":{"":1,"__proto__":"","10":{},"2":[]}}'),
    ask('{"type":"score","criteria":["",1.0,{"a":1}]}'),
    ask(`{"type":"choice","criteria":${options(255)}}`),
    ask(`{"type":"score","criteria":${levels(26)}}`),
    ask(noul, '""'),
    ask(noul, '"__proto__"'),
    ask(noul, '"constructor"'),
    ask(noul, '"a\\nb"'),
    `{"state":0,"questions":{"q":${noul}}}`,
    `{"state":1.0,"questions":{"q":${noul}}}`,
    `{"state":false,"questions":{"q":${noul}}}`,
    `{"state":"","questions":{"q":${noul}}}`,
    `{"state":[],"questions":{"q":${noul}}}`,
    `{"state":{"a":1,"a":2},"questions":{"q":${noul}}}`,
    `{"state":{},"questions":{"q":${noul}},"model":"m","extra":{"type":3}}`,
  ]) {
    t.doesNotThrow(() => readRequest(text, limits), text)
  }
})

t.test('names keep the order of the text', async (t) => {
  const request = readRequest(
    `{"state":"s","questions":{"b":${noul},"10":${noul},"9":${noul},"__proto__":${noul}}}`,
    limits,
  )
  t.strictSame(keysOf(request.questions), ['b', '10', '9', '__proto__'])
})

const shape = 'ERR_BODY_INVALID'
const unacceptable = 'ERR_REQUEST_UNACCEPTABLE'
const stateKinds = 'a string, an object, an array, a number or a boolean'

/** Body, code, place, message after the place. */
const refused: [text: string, code: string, place: string | undefined, rule: string][] = [
  ['[]', shape, undefined, 'expected an object, got an empty array'],
  ['1.0', shape, undefined, 'expected an object, got a number'],
  ['"x"', shape, undefined, 'expected an object, got a string'],
  [`{"questions":{"q":${noul}}}`, shape, 'state', `expected ${stateKinds}, got nothing`],
  [`{"state":null,"questions":{"q":${noul}}}`, shape, 'state', `expected ${stateKinds}, got null`],
  ['{"state":1}', shape, 'questions', 'expected an object with at least one question, got nothing'],
  [
    '{"state":1,"questions":{}}',
    shape,
    'questions',
    'expected an object with at least one question, got an empty object',
  ],
  [
    '{"state":1,"questions":1.0}',
    shape,
    'questions',
    'expected an object with at least one question, got a number',
  ],
  [
    `{"state":1,"questions":{"q":${noul}},"model":null}`,
    shape,
    'model',
    'expected a string, got null',
  ],
  [
    `{"state":1,"questions":{"q":${noul},"q":${noul}}}`,
    shape,
    'questions.q',
    'expected each name once, got it twice',
  ],
  [
    `{"state":1,"questions":{"a":${noul},"b":${noul},"c":${noul},"d":${noul},"e":${noul}}}`,
    unacceptable,
    'questions',
    'expected 1 to 4 questions, got 5',
  ],
  [ask('1'), shape, 'questions.q', 'expected an object, got a number'],
  [ask('1.0'), shape, 'questions.q', 'expected an object, got a number'],
  [ask('{}'), shape, 'questions.q.type', 'expected "noul", "choice" or "score", got nothing'],
  [
    ask('{"type":1.0}'),
    shape,
    'questions.q.type',
    'expected "noul", "choice" or "score", got a number',
  ],
  [
    ask('{"type":"Noul"}'),
    unacceptable,
    'questions.q.type',
    'expected "noul", "choice" or "score", got "Noul"',
  ],
  [
    ask('{"type":"noul"}'),
    shape,
    'questions.q',
    'expected instructions or criteria, without them nothing is asked',
  ],
  [
    ask('{"type":"noul","instructions":"","criteria":{"true":null,"false":""}}'),
    shape,
    'questions.q',
    'expected instructions or criteria, without them nothing is asked',
  ],
  [
    ask('{"type":"noul","instructions":"?","criteria":[]}'),
    shape,
    'questions.q.criteria',
    'expected an object with the keys true and false, got an empty array',
  ],
  [
    ask('{"type":"noul","instructions":"?","criteria":1.0}'),
    shape,
    'questions.q.criteria',
    'expected an object with the keys true and false, got a number',
  ],
  [
    ask('{"type":"noul","instructions":"?","criteria":{"true":1,"true":2}}'),
    shape,
    'questions.q.criteria.true',
    'expected each name once, got it twice',
  ],
  [
    ask('{"type":"choice"}'),
    shape,
    'questions.q.criteria',
    'expected an object of options, got nothing',
  ],
  [
    ask('{"type":"choice","criteria":["a","b"]}'),
    shape,
    'questions.q.criteria',
    'expected an object of options, got an array',
  ],
  [
    ask('{"type":"choice","criteria":{}}'),
    shape,
    'questions.q.criteria',
    'expected 1 to 255 options, got 0',
  ],
  [
    ask(`{"type":"choice","criteria":${options(300)}}`, '"team"'),
    unacceptable,
    'questions.team.criteria',
    'expected 1 to 255 options, got 300',
  ],
  [
    ask('{"type":"choice","criteria":{"a b":1,"a b":2}}', '"a b"'),
    shape,
    'questions["a b"].criteria["a b"]',
    'expected each name once, got it twice',
  ],
  [
    ask('{"type":"score","criteria":{"0":"a"}}'),
    shape,
    'questions.q.criteria',
    'expected an array of levels, got an object',
  ],
  [
    ask('{"type":"score","criteria":[]}', '"10"'),
    shape,
    'questions["10"].criteria',
    'expected 1 to 26 levels, got 0',
  ],
  [
    ask(`{"type":"score","criteria":${levels(27)}}`),
    unacceptable,
    'questions.q.criteria',
    'expected 1 to 26 levels, got 27',
  ],
  [
    ask('null', `"${'n'.repeat(200)}"`),
    shape,
    `questions["${'n'.repeat(39)}…"]`,
    'expected an object, got null',
  ],
  [ask('null', '"__proto__"'), shape, 'questions.__proto__', 'expected an object, got null'],
]

t.test('refused bodies name the place and the rule', async (t) => {
  for (const [text, code, place, rule] of refused) {
    t.throws(
      () => readRequest(text, limits),
      { code, param: place, message: `${place ?? 'body'}: ${rule}` },
      text.slice(0, 100),
    )
  }
})

t.test('a body that is not JSON is refused', async (t) => {
  t.throws(() => readRequest('{"state":', limits), { code: shape })
  t.throws(() => readRequest(ask(noul, '"\\ud800"'), limits), { code: shape })
})

t.test('options beyond 255 are refused whatever the limits say', async (t) => {
  const text = ask(`{"type":"choice","criteria":${options(256)}}`)
  t.throws(() => readRequest(text, { ...limits, maxOptions: 1000 }), { code: unacceptable })
})

t.test('an object from a program is checked like a text', async (t) => {
  const body = { state: 1, questions: { q: { type: 'noul', instructions: '?' } } }
  t.equal(checkRequest(body, limits), body)
  t.throws(() => checkRequest(undefined, limits), { code: shape })
})
