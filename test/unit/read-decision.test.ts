/** Wrong bodies of POST /v1/decisions: the place in the original body, and the rule. */
import t from 'tap'
import { readDecisionInSteps } from '../../src/api/decisions/read-decision.js'
import { writeDecision } from '../../src/api/decisions/write-decision.js'
import { entriesOf, keysOf } from '../../src/api/json.js'
import { atOnce } from '../../src/api/turns.js'
import { OiError } from '../../src/errors.js'
import { decision } from '../helpers/stub.js'

const limits = { maxQuestions: 3, maxOptions: 4, maxLevels: 4 }
const size = { maxReplyBytes: 16_777_216, evidence: false }
const read = (text: string, ignored: string[] = []) =>
  atOnce(readDecisionInSteps(text, limits, size, ignored))
function errorOf(text: string): unknown {
  try {
    return read(text)
  } catch (error) {
    return error
  }
}
const predicate = { type: 'predicate', instructions: 'Is it?' }
const choice = { type: 'choice', instructions: 'Which?', choices: [{ value: 'a' }] }
const score = { type: 'score', instructions: 'How?', levels: [{ label: 'a' }] }
const good = { input: 'text', questions: [predicate] }
const part = (part: object) => ({ ...good, input: [{ role: 'user', content: ['x', part] }] })
const user = (content: unknown) => ({ ...good, input: [{ role: 'user', content }] })
const asking = (question: object) => ({ ...good, questions: [predicate, question] })

const malformed: readonly (readonly [body: unknown, param: string | undefined])[] = [
  [[], undefined],
  [{ questions: [predicate] }, 'input'],
  [{ ...good, input: [] }, 'input'],
  [{ ...good, input: 7 }, 'input'],
  [{ ...good, input: ['text'] }, 'input[0]'],
  [{ ...good, input: [{ content: 'a' }] }, 'input[0].role'],
  [user(undefined), 'input[0].content'],
  [user([]), 'input[0].content'],
  [part({ type: 'input_text', text: 'a' }), 'input[0].content[0]'],
  [user([{ text: 'a' }]), 'input[0].content[0].type'],
  [user([{ type: 'input_text' }]), 'input[0].content[0].text'],
  [user([{ type: 'input_json' }]), 'input[0].content[0].data'],
  [user([{ type: 'input_image' }]), 'input[0].content[0].image_url'],
  [{ ...good, input: [{ type: 'function_call', call_id: 'a', name: 'b' }] }, 'input[0].arguments'],
  [{ input: 'text' }, 'questions'],
  [{ ...good, questions: { a: predicate } }, 'questions'],
  [{ ...good, questions: [] }, 'questions'],
  [{ ...good, questions: ['Is it?'] }, 'questions[0]'],
  [{ ...good, model: 7 }, 'model'],
  [asking({ ...predicate, type: undefined }), 'questions[1].type'],
  [asking({ ...predicate, name: 7 }), 'questions[1].name'],
  [asking({ type: 'predicate' }), 'questions[1].instructions'],
  [asking({ ...predicate, instructions: '' }), 'questions[1]'],
  [asking({ ...choice, choices: { a: null } }), 'questions[1].choices'],
  [asking({ ...choice, choices: [] }), 'questions[1].choices'],
  [asking({ ...choice, choices: [{ value: 7 }] }), 'questions[1].choices[0].value'],
  [
    asking({ ...choice, choices: [{ value: 'a' }, { value: 'a' }] }),
    'questions[1].choices[1].value',
  ],
  [
    asking({ ...choice, choices: [{ value: 'a', description: 7 }] }),
    'questions[1].choices[0].description',
  ],
  [asking({ ...score, levels: [] }), 'questions[1].levels'],
  [asking({ ...score, levels: ['low'] }), 'questions[1].levels[0]'],
  [asking({ ...score, levels: [{}] }), 'questions[1].levels[0].label'],
]

const unacceptable: readonly (readonly [body: unknown, param: string])[] = [
  [{ ...good, questions: [predicate, predicate, predicate, predicate] }, 'questions'],
  [{ ...good, files: ['a'] }, 'files'],
  [{ ...good, images: ['a'] }, 'images'],
  [{ ...good, input: [{ role: 'tool', content: 'a' }] }, 'input[0].role'],
  [{ ...good, input: [{ type: 'reasoning', summary: [] }] }, 'input[0].type'],
  [
    { ...good, input: [{ type: 'function_call_output', call_id: 'a', output: 'b' }] },
    'input[0].call_id',
  ],
  [user([{ type: 'input_file', file_data: 'a' }]), 'input[0].content[0].type'],
  [asking({ ...predicate, type: 'noul' }), 'questions[1].type'],
  [asking({ ...predicate, audio: 'a' }), 'questions[1].audio'],
  [
    asking({ ...predicate, instructions: [{ type: 'input_image', image_url: 'data:' }] }),
    'questions[1].instructions[0].type',
  ],
  [
    asking({ ...choice, choices: ['a', 'b', 'c', 'd', 'e'].map((value) => ({ value })) }),
    'questions[1].choices',
  ],
  [
    asking({ ...score, levels: ['a', 'b', 'c', 'd', 'e'].map((label) => ({ label })) }),
    'questions[1].levels',
  ],
]

for (const [code, rows] of [
  ['ERR_BODY_INVALID', malformed],
  ['ERR_REQUEST_UNACCEPTABLE', unacceptable],
] as const) {
  for (const [body, param] of rows) {
    const text = JSON.stringify(body)
    t.test(`${text.slice(0, 90)} is refused, naming the place`, async (t) => {
      const error = errorOf(text)
      t.match(error, { code, param })
      t.ok((error as Error).message.startsWith(`${param ?? 'body'}: expected `), String(error))
    })
  }
}

t.test('an error of the decision has its place in the original body', async (t) => {
  const content = [
    { type: 'input_text', text: 'a' },
    { type: 'input_json', data: { b: [1] } },
  ]
  const input = [
    { role: 'system', content: 'x' },
    { role: 'user', content },
  ]
  const placed = (body: object, place: string, rule = 'expected less') =>
    read(JSON.stringify(body)).placed(
      new OiError('ERR_REQUEST_UNACCEPTABLE', `${place}: ${rule}`, { param: place }),
    )
  const talk = { ...good, input }
  for (const [body, place, meant] of [
    [good, 'state', 'input'],
    [good, 'model', 'model'],
    [talk, 'state', 'input'],
    [talk, 'state[1].content[1].b[0]', 'input[1].content[1].data.b[0]'],
    [talk, 'state[0].content', 'input[0].content'],
    [{ ...good, input: [input[1]] }, 'state[0]', 'input[0].content[0].text'],
    [asking(choice), 'questions.q1.criteria', 'questions[1].choices'],
    [asking(score), 'questions.q1.criteria[0]', 'questions[1].levels[0]'],
    [asking(predicate), 'questions.q1.instructions', 'questions[1].instructions'],
  ] as const) {
    const error = placed(body, place)
    t.match(error, { param: meant, message: `${meant}: expected less` }, place)
  }
  const late = new OiError('ERR_TIMEOUT', 'The request was not answered')
  t.equal(read(JSON.stringify(good)).placed(late), late)
})

t.test('unknown members are reported', async (t) => {
  const ignored: string[] = []
  const body = {
    ...{ ...good, prompt_cache_key: 'a' },
    questions: [
      { ...choice, criteria: {}, choices: [{ value: 'a', label: 'b' }] },
      { ...score, levels: [{ label: 'a', value: 1 }] },
    ],
  }
  read(JSON.stringify(body), ignored)
  t.strictSame(ignored, [
    ...['prompt_cache_key', 'questions[0].criteria', 'questions[0].choices[0].label'],
    'questions[1].levels[0].value',
  ])
})

t.test('a text and a boolean with equal spelling are two values, in their order', async (t) => {
  const values = [true, 'true', '2', '1']
  const body = { ...good, questions: [{ ...choice, choices: values.map((value) => ({ value })) }] }
  const asked = read(JSON.stringify(body))
  const { criteria } = asked.request.questions['q0'] as { criteria: Record<string, unknown> }
  const names = keysOf(criteria)
  t.equal(new Set(names).size, 4)
  const probabilities = { true: 0.5, 'true (string)': 0.3, '2': 0.2 }
  const text = writeDecision(
    {
      ...decision,
      answers: { q0: { type: 'choice', choice: names[1]!, probabilities, confidence: 0.4 } },
    },
    asked,
  )
  const [answer] = (JSON.parse(text) as { answers: { choice: unknown }[] }).answers
  t.equal(answer!.choice, 'true')
  t.strictSame(entriesOf(criteria)[0], ['true', null])
})
