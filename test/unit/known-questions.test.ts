/** Remembered questions: they change no answer. */
import t from 'tap'
import { isShared } from '../../src/api/json.js'
import { KnownQuestions } from '../../src/api/known-questions.js'
import { readRequestInSteps } from '../../src/api/read-request.js'
import { atOnce } from '../../src/api/turns.js'
import { createDecider } from '../../src/decide/decide.js'
import { createFakeEngine, fakeFacts } from '../helpers/fake-engine.js'

const limits = { maxQuestions: 4, maxOptions: 255, maxLevels: 255 }
const read = (text: string, known?: KnownQuestions, scope = 'a') =>
  atOnce(readRequestInSteps(text, limits, undefined, known?.of(scope)))

const noul = '{"type":"noul","instructions":"Does the customer want money back, or not at all?"}'
const score = '{"type":"score","criteria":["none of it",1.0,{"2":"x","1":"y"},"all of it"]}'
const asked = `{"money":${noul},"7":${score},"more":${noul}}`
const body = (state: string, questions = asked) => `{"state":${state},"questions":${questions}}`

t.test(
  'from the third time on questions are the same object, whatever surrounds them',
  async (t) => {
    const known = new KnownQuestions()
    const [first, second, third] = ['"a"', '"b"', '{"questions":{}}'].map((state) =>
      read(body(state), known),
    )
    t.not(second!.questions, first!.questions)
    t.equal(third!.questions, second!.questions)
    t.notOk(isShared(first!.questions))
    t.ok(isShared(third!.questions))
    const reordered = read(`{ "questions" :\n ${asked} , "x": 1, "state": [2]}`, known)
    t.equal(reordered.questions, second!.questions)
    t.match(reordered, { x: 1, state: [2] })
    t.strictSame(JSON.stringify(third), JSON.stringify(read(body('{"questions":{}}'))))
  },
)

t.test('questions of another scope are not known', async (t) => {
  const known = new KnownQuestions()
  for (const state of [1, 2, 3]) read(body(String(state)), known, 'a')
  t.ok(isShared(read(body('4'), known, 'a').questions))
  t.notOk(isShared(read(body('4'), known, 'b').questions))
})

t.test('only the outermost member of that name is looked up', async (t) => {
  const known = new KnownQuestions()
  for (const state of [1, 2, 3]) read(body(String(state)), known)
  const inside = read(body(`{"questions":${asked}}`), known)
  t.not((inside.state as { questions: object }).questions, inside.questions)
  t.strictSame((inside.state as { questions: object }).questions, inside.questions)
})

t.test('a text with only the same beginning is read by itself', async (t) => {
  const known = new KnownQuestions()
  const texts = [asked, asked.replace('all of it', 'all of IT'), asked.replace('"y"', '"yy"')]
  for (let round = 0; round < 4; round++) {
    for (const text of texts) {
      const told = read(body('1', text), known)
      t.equal(JSON.stringify(told), JSON.stringify(read(body('1', text))))
    }
  }
  t.throws(() => read(`{"state":1,"questions":${asked}`, known), { code: 'ERR_BODY_INVALID' })
  t.throws(() => read(`{"state":1,"questions":${asked}}}`, known), { code: 'ERR_BODY_INVALID' })
})

t.test('alternating texts with the same beginning are all kept', async (t) => {
  const known = new KnownQuestions()
  const texts = ['', 'a', 'bb'].map((more) => asked.replace('all of it', `all of it${more}`))
  for (let round = 0; round < 3; round++) for (const text of texts) read(body('1', text), known)
  for (const text of texts) t.ok(isShared(read(body('1', text), known).questions))
})

t.test('an error in questions is reported each time', async (t) => {
  const known = new KnownQuestions()
  const five = `{${[1, 2, 3, 4, 5].map((i) => `"q${i}":${noul}`).join()}}`
  const twice = `{"q":${noul},"q":${noul}}`
  for (let round = 0; round < 4; round++) {
    t.throws(() => read(body('1', five), known), { code: 'ERR_REQUEST_UNACCEPTABLE' })
    t.throws(() => read(body('1', twice), known), {
      code: 'ERR_BODY_INVALID',
      param: 'questions.q',
    })
  }
})

t.test('memory is bounded, and texts that return are found again', async (t) => {
  const known = new KnownQuestions()
  const of = (i: number) => asked.replace('money', `question ${i}`)
  for (let i = 0; i < 1000; i++) for (let time = 0; time < 3; time++) read(body('1', of(i)), known)
  t.ok(isShared(read(body('1', of(999)), known).questions))
  t.notOk(isShared(read(body('1', of(0)), known).questions))
  const long = asked.replace('money', 'm'.repeat(20_000))
  for (let time = 0; time < 4; time++) t.notOk(isShared(read(body('1', long), known).questions))
})

t.test('the prompt is the same, in one order and in two', async (t) => {
  for (const orders of [1, 2] as const) {
    const engine = createFakeEngine()
    const decider = await createDecider(engine, { ...fakeFacts, orders })
    const known = new KnownQuestions()
    const decisions = []
    for (let time = 0; time < 4; time++) {
      decisions.push(await decider.decide(read(body('{"a":[1]}'), known)))
    }
    t.strictSame(engine.scored[3], engine.scored[0])
    t.equal(engine.scored[3]!.suffixes, engine.scored[2]!.suffixes)
    t.strictSame(decisions[3]!.answers, decisions[0]!.answers)
  }
})
