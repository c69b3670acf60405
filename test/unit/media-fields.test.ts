/** Fields for media are read or refused, and misspelt ones are reported. */
import t from 'tap'
import { readBatch } from '../../src/api/read-batch.js'
import { readRequest } from '../../src/api/read-request.js'

const limits = { maxQuestions: 400, maxOptions: 255, maxLevels: 255 }
const noul = { type: 'noul', instructions: 'Is it?' }
const read = (body: object) => () =>
  readRequest(JSON.stringify({ state: 's', questions: { q: noul }, ...body }), limits)

t.test('unknown media are refused at their place, and null is not', async (t) => {
  for (const name of ['media', 'video', 'videos', 'audio', 'files']) {
    for (const value of ['a', ['a'], { a: 1 }, 7, false]) {
      t.throws(read({ [name]: value }), { code: 'ERR_REQUEST_UNACCEPTABLE', param: name })
    }
    for (const value of [null, [], {}]) read({ [name]: value })()
  }
  for (const name of ['assets', 'image', 'images', 'audio']) {
    const param = `questions.q.${name}`
    const body = { questions: { q: { ...noul, [name]: ['a'] } } }
    t.throws(read(body), { code: 'ERR_REQUEST_UNACCEPTABLE', param })
    for (const items of [{ states: ['s'], questions: { q: noul } }, { requests: [{}] }]) {
      const batch = JSON.stringify({ ...items, [name]: ['a'] })
      t.throws(() => readBatch(batch, limits), { code: 'ERR_REQUEST_UNACCEPTABLE', param: name })
    }
  }
})

t.test('criteria of a noul with neither side are refused, with the given names', async (t) => {
  const refused = {
    code: 'ERR_BODY_INVALID',
    message: 'questions.q.criteria: expected true, false or both, got "yes" and "no"',
  }
  t.throws(read({ questions: { q: { ...noul, criteria: { yes: 'a', no: 'b' } } } }), refused)
  t.throws(read({ questions: { q: { ...noul, criteria: {} } } }), {
    code: 'ERR_BODY_INVALID',
    message:
      'questions.q.criteria: expected an object with the keys true and false, got an empty object',
  })
  for (const criteria of [{ true: 'a' }, { false: 'a', more: 1 }, null]) {
    read({ questions: { q: { ...noul, criteria } } })()
  }
})

t.test('a question about a place in an image is named', async (t) => {
  t.throws(read({ questions: { q: { type: 'box', instructions: 'the cup' } } }), {
    code: 'ERR_REQUEST_UNACCEPTABLE',
    param: 'questions.q.type',
    message: /got "box": no model here/,
  })
})
