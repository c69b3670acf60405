/** Valid request bodies, and the errors of all others. */
import t from 'tap'
import { decodeUtf8 } from '../../src/api/json.js'
import { checkRequest, readRequest } from '../../src/api/read-request.js'
import type { RequestLimits } from '../../src/api/counts.js'
import { badJson } from '../helpers/bad-json.js'
import { badShapes } from '../helpers/bad-shapes.js'
import { badCounts, badForModel } from '../helpers/bad-values.js'
import { fakeDecider } from '../helpers/fake-engine.js'
import { oddRequests } from '../helpers/odd-requests.js'
import { asking, choice, levels, names, noul, score } from '../helpers/request-text.js'

const limits: RequestLimits = { maxQuestions: 4, maxOptions: 255, maxLevels: 26 }
const most: RequestLimits = { maxQuestions: 400, maxOptions: 255, maxLevels: 255 }

t.test('what looks wrong but is valid is accepted', async (t) => {
  for (const { what, body } of oddRequests) {
    t.doesNotThrow(() => readRequest(body, most), what)
  }
})

const shape = 'ERR_BODY_INVALID'
const unacceptable = 'ERR_REQUEST_UNACCEPTABLE'
t.test('refused bodies name the place and the rule', async (t) => {
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
    [asking(names(5, noul)), unacceptable, 'questions', '1 to 4 questions, got 5'],
    [score('[]'), shape, 'questions.q.criteria', '1 to 26 levels, got 0'],
    [score(levels(27)), unacceptable, 'questions.q.criteria', '1 to 26 levels, got 27'],
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
  const text = choice(names(256, 'null'))
  t.throws(() => readRequest(text, { ...limits, maxOptions: 1000 }), { code: unacceptable })
})

t.test('an object from a program is checked like a text', async (t) => {
  const body = { state: 1, questions: { q: { type: 'noul', instructions: '?' } } }
  t.equal(checkRequest(body, limits), body)
  t.throws(() => checkRequest(undefined, limits), { code: shape })
})
