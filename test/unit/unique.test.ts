/**
 * A name that stands twice: refused where the interface defines the object, kept in data. Those of a
 * single request are in the table of bad shapes.
 */
import t from 'tap'
import { readBatch } from '../../src/api/read-batch.js'
import { readDecisionInSteps } from '../../src/api/decisions/read-decision.js'
import { atOnce } from '../../src/api/turns.js'
import { parseJson } from '../../src/api/json.js'
import { readSource } from '../../src/images/image-source.js'
import type { Json, JsonObject } from '../../src/api/json.js'
import { findImages } from '../../src/images/find-images.js'

const limits = { maxQuestions: 400, maxOptions: 255, maxLevels: 255 }
const size = { maxReplyBytes: 2 ** 24, evidence: false }
const noul = '{"type":"noul","instructions":"Is it?"}'
const questions = `"questions":{"q":${noul}}`

const refused = (param: string) => ({
  code: 'ERR_BODY_INVALID',
  param,
  message: /once, got it twice$/,
})

t.test('in a batch', async (t) => {
  for (const [body, place] of [
    [`{"requests":[],"requests":[{"state":1,${questions}}]}`, 'requests'],
    [`{"states":[1],"states":[2],${questions}}`, 'states'],
    [`{"states":[1],"states":[],${questions}}`, 'states'],
    [`{"states":[1],${questions},${questions}}`, 'questions'],
  ] as const) {
    t.throws(() => readBatch(body, limits), refused(place), body)
  }
  for (const item of [
    `{"id":"a","id":"b","state":1,${questions}}`,
    `{"state":1,"state":2,${questions}}`,
  ]) {
    for (const model of ['', ',"model":"m"']) {
      const batch = readBatch(`{"requests":[${item}]${model}}`, limits)
      const name = item.startsWith('{"id') ? 'id' : 'state'
      t.match(batch.items[0]!.request, refused(`requests[0].${name}`))
    }
  }
})

t.test('in a decision', async (t) => {
  const predicate = '{"type":"predicate","instructions":"Is it?"}'
  const ask = (input: string, question = predicate, more = '') =>
    `{"input":${input},"questions":[${question}]${more}}`
  for (const [body, place] of [
    [ask('"a"', predicate, ',"input":"b"'), 'input'],
    [ask('"a"', predicate, ',"questions":[]'), 'questions'],
    [ask('"a"', '{"type":"predicate","type":"predicate","instructions":"a"}'), 'questions[0].type'],
    [
      ask('"a"', '{"type":"choice","instructions":"a","choices":[{"value":"a","value":"b"}]}'),
      'questions[0].choices[0].value',
    ],
    [
      ask('"a"', '{"type":"score","instructions":"a","levels":[{"label":"a","label":"b"}]}'),
      'questions[0].levels[0].label',
    ],
    [ask('[{"role":"user","role":"user","content":"a"}]'), 'input[0].role'],
    [
      ask('[{"role":"user","content":"a"},{"role":"user","content":"a","content":"b"}]'),
      'input[1].content',
    ],
    [
      ask('[{"role":"user","content":[{"type":"input_text","text":"a","text":"b"}]}]'),
      'input[0].content[0].text',
    ],
  ] as const) {
    t.throws(() => atOnce(readDecisionInSteps(body, limits, size)), refused(place), body)
  }
})

t.test('in a block of an image, and not in data', async (t) => {
  const sources = (state: string) =>
    findImages({ state: parseJson(state) }).images.map((image) => readSource(image, new Map()))
  t.throws(
    () =>
      sources(
        '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aaaa","data":"bbbb"}}',
      ),
    refused('state.source.data'),
  )
  t.throws(
    () =>
      sources('{"type":"image_url","type":"image_url","image_url":"data:image/png;base64,aaaa"}'),
    refused('state.type'),
  )
  t.same(sources('{"a":1,"a":{"b":1,"b":2}}'), [])
  const kept: Json = parseJson('{"a":1,"a":2}')
  t.equal((kept as JsonObject)['a'], 2)
})
