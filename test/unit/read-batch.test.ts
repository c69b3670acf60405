/** The body of a batch, and the places that errors name. */
import t from 'tap'
import { readBatch } from '../../src/api/read-batch.js'
import type { RequestLimits } from '../../src/api/counts.js'
import { validators } from '../../src/api/schemas.js'
import type { DecideRequest } from '../../src/decide/types.js'
import { OiError } from '../../src/errors.js'

const limits: RequestLimits = { maxQuestions: 2, maxOptions: 255, maxLevels: 255 }
const noul = '{"type":"noul","instructions":"Is it?"}'
const asked = `{"q":${noul}}`
const item = (more = '') => `{"state":1,"questions":${asked}${more}}`
const many = (count: number, text: string) => `[${Array<string>(count).fill(text).join()}]`

const read = (text: string) => readBatch(text, limits)
const requestAt = (text: string, index: number) => read(text).items[index]!.request as DecideRequest
const errorAt = (text: string, index: number) => read(text).items[index]!.request as OiError

t.test('both envelopes, up to 256 items', async (t) => {
  for (const [text, count] of [
    [`{"requests":[${item()}]}`, 1],
    [`{"requests":${many(256, item())},"model":"m","more":1}`, 256],
    [`{"states":[1],"questions":${asked}}`, 1],
    [`{"states":${many(256, '"s"')},"questions":${asked},"model":"m"}`, 256],
  ] as const) {
    const { items } = read(text)
    t.equal(items.length, count)
    t.notOk(items.some(({ request }) => request instanceof OiError))
    t.ok(validators.batchRequest.Check(JSON.parse(text)))
  }
})

const shape = 'ERR_BODY_INVALID'
const unacceptable = 'ERR_REQUEST_UNACCEPTABLE'

const items = 'expected an array of 1 to 256 items'
const either = 'expected either requests or states'

for (const [code, place, rule, ...texts] of [
  [shape, undefined, 'expected an object, got an empty array', '[]'],
  [shape, undefined, 'expected an object, got a number', '1.0'],
  [shape, undefined, `${either}, got neither`, '{}', `{"questions":${asked}}`],
  [shape, undefined, `${either}, got both`, `{"requests":[1],"states":[1],"questions":${asked}}`],
  [shape, 'requests', `${items}, got null`, '{"requests":null}'],
  [shape, 'requests', `${items}, got an empty object`, '{"requests":{}}'],
  [shape, 'requests', 'expected 1 to 256 items, got 0', '{"requests":[]}'],
  [unacceptable, 'requests', 'expected 1 to 256 items, got 257', `{"requests":${many(257, '1')}}`],
  [shape, 'model', 'expected a string, got a number', `{"requests":[${item()}],"model":1}`],
  [shape, 'states', `${items}, got a string`, `{"states":"s","questions":${asked}}`],
  [shape, 'states', 'expected 1 to 256 items, got 0', `{"states":[],"questions":${asked}}`],
  [
    ...[unacceptable, 'states', 'expected 1 to 256 items, got 257'],
    `{"states":${many(257, '1')},"questions":${asked}}`,
  ],
  [shape, 'questions', /^expected an object with at least one .*, got nothing$/, '{"states":[1]}'],
  [shape, 'questions', /got an empty object$/, '{"states":[1],"questions":{}}'],
  [
    ...[shape, 'questions.q.criteria', 'expected 1 to 255 options, got 0'],
    '{"states":[1],"questions":{"q":{"type":"choice","criteria":{}}}}',
  ],
  [
    ...[unacceptable, 'questions.q.type', 'expected "noul", "choice" or "score", got "both"'],
    '{"states":[1],"questions":{"q":{"type":"both"}}}',
  ],
  [
    ...[unacceptable, 'questions', 'expected 1 to 2 questions, got 3'],
    `{"states":[1],"questions":{"a":${noul},"b":${noul},"c":${noul}}}`,
  ],
] as [code: string, place: string | undefined, rule: string | RegExp, ...texts: string[]][]) {
  for (const text of texts) {
    t.test(`an envelope is refused as a whole: ${text.slice(0, 60)}`, async (t) => {
      const start = `${place ?? 'body'}: `
      t.throws(() => read(text), { code, param: place })
      try {
        read(text)
      } catch (error) {
        const { message } = error as OiError
        t.ok(message.startsWith(start), message)
        t.match(message.slice(start.length), rule)
      }
      // Not in the schema: the contents of a question, the model's number of questions, and that
      // fields of the other envelope are refused.
      const beyond = place?.startsWith('questions.') || /got 3$|got both$/.test(String(rule))
      t.equal(validators.batchRequest.Check(JSON.parse(text)), beyond)
    })
  }
}

t.test('a text that is not JSON, or too deep, is refused as a whole', async (t) => {
  for (const text of ['', '{"requests":[', `{"requests":${'['.repeat(64)}${']'.repeat(64)}}`]) {
    t.throws(() => read(text), { code: shape })
  }
})

t.test("a mistake in an item is the item's error, with its place in the body", async (t) => {
  for (const [text, code, place, rule] of [
    ['1', shape, 'requests[1]', 'expected an object, got a number'],
    ['null', shape, 'requests[1]', 'expected an object, got null'],
    [`{"questions":${asked}}`, shape, 'requests[1].state', /^expected a string, .*, got nothing$/],
    ['{"state":1}', shape, 'requests[1].questions', /got nothing$/],
    [
      '{"state":1,"questions":{"team":{"type":"choice","criteria":{}}}}',
      shape,
      'requests[1].questions.team.criteria',
      'expected 1 to 255 options, got 0',
    ],
    [
      `{"state":1,"questions":{"a b":{"type":"x"}}}`,
      unacceptable,
      'requests[1].questions["a b"].type',
      /got "x"$/,
    ],
    [
      `{"state":1,"questions":{"q":${noul},"q":${noul}}}`,
      shape,
      'requests[1].questions.q',
      /twice$/,
    ],
    [item(',"model":1'), shape, 'requests[1].model', 'expected a string, got a number'],
    [item(',"id":1'), shape, 'requests[1].id', 'expected a string, got a number'],
    [item(',"id":null'), shape, 'requests[1].id', 'expected a string, got null'],
  ] as const) {
    const body = `{"requests":[${item()},${text},${item()}]}`
    const error = errorAt(body, 1)
    t.match(error, { code, param: place }, text)
    t.ok(error.message.startsWith(`${place}: `), error.message)
    t.match(error.message.slice(place.length + 2), rule)
    for (const index of [0, 2]) t.notOk(requestAt(body, index) instanceof OiError)
  }
})

t.test("an invalid state is its item's error", async (t) => {
  const body = `{"states":["s",null,0,false,{},[]],"questions":${asked}}`
  t.match(errorAt(body, 1), {
    code: shape,
    param: 'states[1]',
    message: /^states\[1\]: expected a string, .*, got null$/,
  })
  for (const index of [0, 2, 3, 4, 5]) t.notOk(requestAt(body, index) instanceof OiError)
})

t.test('ids are any texts, and may repeat; an item with a mistake keeps its id', async (t) => {
  const ids = ['', 'a', 'a', '10', '9', '__proto__', 'constructor', '\u0000"\\', '\u{1F600}']
  const requests = ids.map((id) => item(`,"id":${JSON.stringify(id)}`))
  const { items } = read(`{"requests":[${requests.join()},{"id":"last"},${item()}]}`)
  t.strictSame(
    items.map(({ id }) => id),
    [...ids, 'last', undefined],
  )
})

t.test("the envelope's model is the default of its items", async (t) => {
  const body = `{"requests":[${item()},${item(',"model":"own"')}],"model":"all"}`
  t.equal(requestAt(body, 0).model, 'all')
  t.equal(requestAt(body, 1).model, 'own')
  t.notOk('model' in requestAt(`{"requests":[${item()}]}`, 0))
  const states = `{"states":[1,2],"questions":${asked},"model":"all"}`
  t.equal(requestAt(states, 1).model, 'all')
})

t.test('an error of the decider gets its place in the batch', async (t) => {
  const state = new OiError('ERR_STATE_TOO_LONG', 'state: expected 9 tokens', { param: 'state' })
  const image = new OiError(unacceptable, 'state.a[0]: no image', { param: 'state.a[0]' })
  const model = new OiError(unacceptable, 'model: expected a', { param: 'model' })
  const busy = new OiError('ERR_OVERLOADED', 'too much is waiting', { retryAfterMs: 5 })

  const requests = read(`{"requests":[${item()},${item(',"model":"own"')}],"model":"all"}`)
  t.match(requests.placed(1, state), {
    code: 'ERR_STATE_TOO_LONG',
    param: 'requests[1].state',
    message: 'requests[1].state: expected 9 tokens',
  })
  t.match(requests.placed(1, image), { param: 'requests[1].state.a[0]' })
  t.match(requests.placed(1, model), { param: 'requests[1].model' })
  t.match(requests.placed(0, model), { param: 'model', message: 'model: expected a' })
  t.equal(requests.placed(0, busy), busy)

  const states = read(`{"states":[1,2],"questions":${asked},"model":"all"}`)
  t.match(states.placed(1, state), { param: 'states[1]', message: 'states[1]: expected 9 tokens' })
  t.match(states.placed(1, image), { param: 'states[1].a[0]' })
  t.match(states.placed(1, model), { param: 'model' })
})
