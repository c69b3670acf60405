/** Valid request bodies, and the errors of all others. */
import t from 'tap'
import { decodeUtf8, keysOf } from '../../src/api/json.js'
import { checkRequest, readRequest } from '../../src/api/read-request.js'
import type { RequestLimits } from '../../src/api/counts.js'
import { badJson } from '../helpers/bad-json.js'
import { badShapes } from '../helpers/bad-shapes.js'
import { badCounts, badForModel } from '../helpers/bad-values.js'
import { fakeDecider } from '../helpers/fake-engine.js'

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
    ask('{"type":"noul","instructions":{"b":1,"b":2}}'),
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
t.test('refused bodies name the place and the rule', async (t) => {
  const most = { maxQuestions: 400, maxOptions: 255, maxLevels: 255 }
  for (const [table, code] of [
    [badShapes, shape],
    [badCounts, unacceptable],
  ] as const) {
    for (const [what, body, place, says] of table) {
      const param = place === 'body' ? undefined : place
      const message = `${place}: ${says}`
      t.throws(() => readRequest(String(body), most), { code, param, message }, what)
    }
  }
})

t.test('the limits are those that are given', async (t) => {
  for (const [text, code, place, rule] of [
    [
      `{"state":1,"questions":{${[...'abcde'].map((name) => `"${name}":${noul}`).join()}}}`,
      unacceptable,
      'questions',
      '1 to 4 questions, got 5',
    ],
    [
      ask('{"type":"score","criteria":[]}', '"10"'),
      shape,
      'questions["10"].criteria',
      '1 to 26 levels, got 0',
    ],
    [
      ask(`{"type":"score","criteria":${levels(27)}}`),
      unacceptable,
      'questions.q.criteria',
      '1 to 26 levels, got 27',
    ],
  ] as const) {
    const message = `${place}: expected ${rule}`
    t.throws(() => readRequest(text, limits), { code, param: place, message }, rule)
  }
})

t.test('what is not JSON is refused as a whole', async (t) => {
  for (const [what, body, , says] of badJson) {
    const error = { code: shape, param: undefined, message: says }
    t.throws(() => readRequest(decodeUtf8(Buffer.from(body)), limits), error, what)
  }
})

t.test('what a model does not take is refused at its place', async (t) => {
  const decider = await fakeDecider({ name: 'fixture' })
  for (const [what, body, param, says] of badForModel) {
    const error = await decider
      .decide(readRequest(String(body), decider.limits))
      .catch((error: unknown) => error)
    t.match(error, { code: unacceptable, param, message: says }, what)
    t.ok((error as Error).message.startsWith(`${param}: `), what)
  }
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
