/** The question flags of `oi ask`, without the command. */
import t from 'tap'
import { keysOf } from '../../src/api/json.js'
import { readQuestionFlag } from '../../src/cli/ask/question-flags.js'
import type { ChoiceQuestion } from '../../src/decide/types.js'

for (const [type, value, name, question] of [
  ['noul', 'Is it urgent?', undefined, { instructions: 'Is it urgent?' }],
  ['noul', 'urgent = Is it?', 'urgent', { instructions: 'Is it?' }],
  ['noul', 'Is 2+2=4?', undefined, { instructions: 'Is 2+2=4?' }],
  ['noul', 'x\\=4?', undefined, { instructions: 'x=4?' }],
  ['noul', 'a\\\\b', undefined, { instructions: 'a\\b' }],
  ['score', 'How?=low, high', undefined, { instructions: 'How?', criteria: ['low', 'high'] }],
  ['score', 'rush=How?=low', 'rush', { instructions: 'How?', criteria: ['low'] }],
  ['score', 'Team=a:b,c\\,d', undefined, { instructions: 'Team', criteria: ['a:b', 'c,d'] }],
  ['choice', 'Team=a,b', undefined, { instructions: 'Team', criteria: { a: '', b: '' } }],
  ['choice', 't=Who?=a: x = y : z ', 't', { instructions: 'Who?', criteria: { a: 'x = y : z' } }],
  ['choice', 'Who?=a\\:b:c', undefined, { instructions: 'Who?', criteria: { 'a:b': 'c' } }],
] as const) {
  t.test(`--${type} ${value}`, async (t) => {
    t.strictSame(readQuestionFlag(type, value), { name, question: { type, ...question } })
  })
}

t.test('options keep their order, also integer-like names', async (t) => {
  const { question } = readQuestionFlag('choice', 'Which?=b,10,9,a')
  t.strictSame(keysOf((question as ChoiceQuestion).criteria), ['b', '10', '9', 'a'])
})

for (const [type, value, message] of [
  ['noul', ' ', /--noul: the question is empty.*--noul "/],
  ['noul', 'urgent=', /empty/],
  ['choice', 'Which team?', /no "=" with the options/],
  ['choice', '=a,b', /the question is empty/],
  ['choice', 'Which?=', /one of the options is empty/],
  ['choice', 'Which?=a,,b', /one of the options is empty/],
  ['choice', 'Which?=:x', /one of the options has no name/],
  ['choice', 'Which?=a:1,a:2', /two options "a"/],
  ['score', 'How?', /no "=" with the levels.*--score "/],
] as const) {
  t.test(`--${type} ${value} is refused`, async (t) => {
    t.throws(() => readQuestionFlag(type, value), { code: 'ERR_CONFIG', message })
  })
}
