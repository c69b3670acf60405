/** The schemas of replies. read-request.test.ts tests those of requests. */
import t from 'tap'
import { validators } from '../../src/api/schemas.js'

const usage = { input_tokens: 1, output_tokens: 1 }
const response = {
  model: 'm',
  answers: {
    a: { type: 'noul', noul: 0.5 },
    '': { type: 'choice', choice: 'x', probabilities: { x: 1 }, confidence: 1 },
    s: { type: 'score', score: 0, probabilities: { 0: 1 }, legend: { 0: 'l' }, confidence: 1 },
  },
  usage,
  latency_ms: 1.5,
}

t.test('a response', async (t) => {
  t.ok(validators.response.Check(response))
  t.ok(validators.response.Check({ ...response, usage: { ...usage, image_tokens: 3 } }))
  const score = response.answers.s
  for (const [level, fits] of [
    [['a'], true],
    [{ a: 1 }, true],
    [1, false],
    [null, false],
  ] as const) {
    const answers = { s: { ...score, legend: { 0: level } } }
    t.equal(validators.response.Check({ ...response, answers }), fits, JSON.stringify(level))
  }
})

t.test('invalid responses', async (t) => {
  for (const wrong of [
    { ...response, answers: {} },
    { ...response, answers: { a: { type: 'noul', noul: 1.5 } } },
    { ...response, answers: { a: { type: 'noul' } } },
    { ...response, answers: { a: { ...response.answers[''], confidence: -0.1 } } },
    { ...response, usage: { ...usage, output_tokens: 0 } },
    { ...response, usage: { ...usage, input_tokens: 1.5 } },
    { ...response, latency_ms: '1' },
    { ...response, model: undefined },
  ]) {
    t.notOk(validators.response.Check(wrong), JSON.stringify(wrong))
  }
})

t.test('a usage report', async (t) => {
  const day = { day: '2026-01-31', model: 'm', requests: 1, input_tokens: 2, output_tokens: 1 }
  const usage = [{ ...day, image_tokens: 0, cached_tokens: 0, cost: 3 }]
  const limits = { requests_per_minute: 0, concurrent: 64 }
  const report = { workspace: 'w', balance: null, budget: null, limits, usage }
  t.ok(validators.usage.Check(report))
  t.ok(validators.usage.Check({ ...report, balance: -5, usage: [] }))
  for (const wrong of [
    { ...report, balance: 0.5 },
    { ...report, limits: { concurrent: 64 } },
    { ...report, usage: [{ ...usage[0], day: '31.1.2026' }] },
    { ...report, usage: [{ ...usage[0], cost: -1 }] },
  ]) {
    t.notOk(validators.usage.Check(wrong), JSON.stringify(wrong))
  }
})
