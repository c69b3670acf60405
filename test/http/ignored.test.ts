/** `x-oi-ignored` names unknown members of a body. */
import t from 'tap'
import { batchPath, linesType, decidePath, post } from '../helpers/asking.js'
import { type StubServer, withFake } from '../helpers/stub.js'

const noul = { type: 'noul', instructions: 'Is this about money?' }

const asking =
  (server: StubServer) =>
  async (body: object, path = decidePath, accept = '*/*') => {
    const reply = await post(server, body, { accept }, path)
    await reply.text()
    return [reply.status, reply.headers.get('x-oi-ignored')]
  }

t.test('unknown members are named everywhere in the interface', (t) =>
  withFake({}, async (server) => {
    const ask = asking(server)
    for (const [body, told] of [
      [{ state: 's', questions: { q: noul }, media: [], images: null }, 'media'],
      [{ state: { question: 1 }, questions: { q: noul } }, null],
      [
        {
          ...{ temperature: 0, state: 's' },
          questions: { team: { ...noul, question: 'x' }, 'a b': { ...noul, 'ü, "\u007f': 1 } },
        },
        String.raw`temperature, questions.team.question, questions["a b"]["\u00fc, \"\u007f"]`,
      ],
      [
        { state: 's', questions: { q: { type: 'noul', criteria: { true: 'yes', no: 'no' } } } },
        'questions.q.criteria.no',
      ],
    ] as const) {
      // From the third time on, questions are not parsed again.
      for (let round = 0; round < 4; round++) t.strictSame(await ask(body), [200, told])
    }
  }),
)

t.test('a request refused for a misspelling has the header too', (t) =>
  withFake({}, async (server) => {
    const body = { state: 's', questions: { q: { type: 'noul', instruction: 'Is it?' } } }
    t.strictSame(await asking(server)(body), [422, 'questions.q.instruction'])
    const choice = { type: 'choice', criterion: {} }
    t.strictSame(await asking(server)({ state: 's', question: 1, questions: { q: choice } }), [
      ...[422, 'question, questions.q.criterion'],
    ])
  }),
)

t.test('a batch names the item, in both forms of the reply', (t) =>
  withFake({}, async (server) => {
    const ask = asking(server)
    const good = { id: 'a', state: 's', questions: { q: noul } }
    const other = { ...good, questions: { q: { ...noul, x: 1 } }, y: 1 }
    for (const accept of ['*/*', linesType]) {
      const items = { requests: [good, other, { ...good, z: 1 }], top: 1 }
      t.strictSame(await ask(items, batchPath, accept), [
        ...[200, 'top, requests[1].y, requests[1].questions.q.x, requests[2].z'],
      ])
      const states = { states: ['s', 't'], questions: other.questions, id: 'b' }
      t.strictSame(await ask(states, batchPath, accept), [200, 'id, questions.q.x'])
    }
  }),
)

t.test('the header is bounded, however long the names are', (t) =>
  withFake({}, async (server) => {
    const name = '\u{1f600}'.repeat(200)
    const names = Array.from({ length: 300 }, (_, i) => [`${i}${name}`, 1] as const)
    const body = { state: 's', questions: { q: noul }, ...Object.fromEntries(names) }
    const [status, told] = await asking(server)(body)
    t.equal(status, 200)
    t.ok(String(told).length <= 1024 && String(told).startsWith('["0\\ud83d\\ude00'))
  }),
)
