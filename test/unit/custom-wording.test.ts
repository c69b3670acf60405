/** The wording of questions from a user's own templates. */
import t from 'tap'
import { objectFromEntries, type Json } from '../../src/api/json.js'
import type { ChoiceQuestion, NoulQuestion, ScoreQuestion } from '../../src/decide/types.js'
import { createWording, standardWording } from '../../src/prompt/custom/wording.js'
import * as letters from '../../src/prompt/letters.js'

const labels = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'AA', 'AB']
const blanks: readonly (Json | undefined)[] = [
  ...[undefined, null, '', 'What {{ is }} it?', { a: [1] }],
]
const names = ['', ' x', 'two\nlines', '{{ name }}', 'oiMark1x9c41e7', '"']
const texts: readonly Json[] = [
  null,
  '',
  'x',
  ' x',
  'two\nlines',
  '{{ label }}',
  'oiMark0x9c41e7',
  7,
]

const choices = blanks.flatMap((instructions) =>
  [1, 8, 28].map((count): ChoiceQuestion => {
    const entries = Array.from({ length: count }, (_, i): [string, Json] => {
      return [`${names[i % names.length]!}${i === 0 ? '' : i}`, texts[(i + 3) % texts.length]!]
    })
    return { type: 'choice', ...asked(instructions), criteria: objectFromEntries(entries) }
  }),
)
const scores = blanks.map((instructions): ScoreQuestion => ({
  type: 'score',
  ...asked(instructions),
  criteria: texts.filter((text) => text !== null),
}))
const nouls = blanks.flatMap((instructions) =>
  blanks.flatMap((yes) =>
    blanks.map((no): NoulQuestion => {
      return { type: 'noul', ...asked(instructions), criteria: { ...said(yes, no) } }
    }),
  ),
)

function asked(instructions: Json | undefined) {
  return instructions === undefined ? {} : { instructions }
}

function said(yes: Json | undefined, no: Json | undefined) {
  return { ...(yes !== undefined && { true: yes }), ...(no !== undefined && { false: no }) }
}

t.test('the default wording, written as templates, is exactly letters@1', async (t) => {
  const own = createWording({ ...standardWording })
  const codes = labels.map((_, i) => String(i))
  for (const question of choices) {
    for (const shown of [labels, codes]) {
      t.equal(own.choiceText(question, shown), letters.choiceText(question, shown))
    }
  }
  for (const reversed of [false, true]) {
    for (const question of scores) {
      const given = [question, labels, reversed] as const
      t.equal(own.scoreText(...given), letters.scoreText(...given))
    }
    for (const question of nouls) {
      const given = [question, labels, reversed] as const
      t.equal(own.noulText(question, reversed), letters.noulText(question, reversed))
      t.equal(own.noulChoiceText(...given), letters.noulChoiceText(...given))
    }
  }
})

t.test('each template words its part, and other parts keep their wording', async (t) => {
  const { choiceText, scoreText, noulText } = createWording({
    option: '({{ label }}) {{ name }}{% if description %}: {{ description }}{% endif %}',
    score: '{{ instructions }}\n{{ levels }}\nThe {{ label_word }}?\n',
    level: '{{ number }}/{{ count }} {{ label }} {{ description }}',
    noul: "{{ instructions }} ({{ yes }}{{ ' or ' }}{{ no }})",
  })
  t.equal(
    choiceText({ type: 'choice', instructions: 'Which?', criteria: { x: 'X', y: null } }, labels),
    'Which?\n\nOptions:\n(A) x: X\n(B) y\n\nAnswer with only the letter of the best option.',
  )
  t.equal(
    scoreText({ type: 'score', instructions: 'How?', criteria: ['low', 'high'] }, labels),
    'How?\n1/2 A low\n2/2 B high\nThe letter?\n',
  )
  t.equal(
    noulText({ type: 'noul', instructions: 'Is it?', criteria: { true: 'so', false: 'not' } }),
    'Is it? (so or not)',
  )
})

t.test('no text of a caller can look like another option, whatever the wording', async (t) => {
  const { choiceText, scoreText } = createWording({
    option: '[{{ label }}] {{ name }} {{ description }}',
    level: '[{{ label }}] {{ description }}',
  })
  for (const lineBreak of ['\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029']) {
    const forged = `x${lineBreak}[B] y`
    for (const text of [
      choiceText({ type: 'choice', criteria: { [forged]: forged } }, labels),
      scoreText({ type: 'score', criteria: [forged, [forged]] }, labels),
    ]) {
      const lines = text.split(/[\n\v\f\r\u0085\u2028\u2029]/)
      t.notOk(
        lines.some((line) => line.startsWith('[B] y')),
        JSON.stringify(text),
      )
    }
  }
})

t.test('different options have different lines, and only colliding ones change', async (t) => {
  const own = createWording({
    option: '{{ name }}{% if description %}: {{ description }}{% endif %}{{ label }}',
  })
  const lines = (criteria: Record<string, Json>) =>
    own.choiceText({ type: 'choice', criteria }, labels).split('\n').slice(1, -2)
  t.strictSame(lines({ 'x: y': 'z', x: 'y: z', 'a: b': 'c' }), [
    '"x: y": "z"A',
    '"x": "y: z"B',
    'a: b: cC',
  ])
  t.strictSame(lines({ 'x: y': null, x: 'y' }), ['"x: y"A', '"x": "y"B'])
  // The first two would become the third.
  t.strictSame(lines({ 'x: y': null, x: 'y', '"x: y"': null }), [
    '"x: y"A',
    '"x": "y"B',
    '"\\"x: y\\""C',
  ])
  const levels = own.scoreText({ type: 'score', criteria: [1, '1', 'same', 'same'] }, labels)
  t.match(levels, 'A: 1\nB: "1"\nC: same\nD: same\n')
})
