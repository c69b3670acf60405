/** The wording of letters@1. A change here is a new version of the readout. */
import t from 'tap'
import { objectFromEntries, parseJson } from '../../src/api/json.js'
import type { Json } from '../../src/api/json.js'
import {
  choiceText,
  noulChoiceText,
  noulText,
  scoreText,
  stateText,
} from '../../src/prompt/letters.js'

const labels = ['A', 'B', 'C', 'D']

t.test('a state is shown unchanged, or as JSON in its own order', async (t) => {
  t.equal(stateText('two\nlines'), 'two\nlines')
  t.equal(
    stateText(parseJson('{"b": 1.0, "10": [true], "9": "x"}')),
    '{"b":1.0,"10":[true],"9":"x"}',
  )
  t.equal(stateText(false), 'false')
})

t.test('a choice', async (t) => {
  const criteria = { billing: 'payments and invoices', support: null, sales: '', other: { a: [1] } }
  t.equal(
    choiceText({ type: 'choice', instructions: 'Which team?', criteria }, labels),
    [
      'Which team?',
      '',
      'Options:',
      'A: billing - payments and invoices',
      'B: support',
      'C: sales',
      'D: other - {"a":[1]}',
      '',
      'Answer with only the letter of the best option.',
    ].join('\n'),
  )
})

t.test('a choice without instructions is its options', async (t) => {
  t.equal(
    choiceText({ type: 'choice', criteria: { yes: null, no: null } }, labels),
    'Options:\nA: yes\nB: no\n\nAnswer with only the letter of the best option.',
  )
})

t.test('options keep the order of the text', async (t) => {
  const criteria = objectFromEntries<Json>([
    ['9', null],
    ['__proto__', 'p'],
    ['1', null],
  ])
  t.match(choiceText({ type: 'choice', criteria }, labels), 'A: 9\nB: __proto__ - p\nC: 1\n')
})

t.test('labels that are not letters are called codes, if they are used', async (t) => {
  const criteria = { x: null, y: null }
  for (const labels of [
    ['A', 'AB'],
    ['0', '1'],
  ]) {
    t.match(choiceText({ type: 'choice', criteria }, labels), /only the code of/)
  }
  t.match(choiceText({ type: 'choice', criteria }, ['A', 'B', 'AB']), /only the letter of/)
})

t.test('instructions that are not a string are shown as JSON', async (t) => {
  const instructions = parseJson('{"ask": "Which?", "1": 2.0}')
  t.match(
    choiceText({ type: 'choice', instructions, criteria: { a: null } }, labels),
    /^\{"ask":"Which\?","1":2\.0\}\n\nOptions:/,
  )
})

t.test('a score shows its levels from the lowest up', async (t) => {
  t.equal(
    scoreText(
      { type: 'score', instructions: 'How urgent?', criteria: ['can wait', '', 2, 'now'] },
      labels,
    ),
    [
      'How urgent?',
      '',
      'Levels, from the lowest to the highest:',
      'A: can wait',
      'B: level 2 of 4',
      'C: 2',
      'D: now',
      '',
      'Answer with only the letter of the level that fits best.',
    ].join('\n'),
  )
})

t.test('a noul says what counts as yes and as no', async (t) => {
  t.equal(
    noulText({ type: 'noul', instructions: 'Is it?', criteria: { true: 'it is', false: 'not' } }),
    'Is it?\n\nYes: it is\nNo: not\n\nAnswer with only Yes or No.',
  )
  t.equal(
    noulText({ type: 'noul', instructions: 'Is it?', criteria: null }),
    'Is it?\n\nAnswer with only Yes or No.',
  )
  t.equal(
    noulText({ type: 'noul', criteria: { false: 'it is dry', true: null } }),
    'No: it is dry\n\nAnswer with only Yes or No.',
  )
})

t.test('a noul can be asked with letters', async (t) => {
  t.equal(
    noulChoiceText({ type: 'noul', instructions: 'Is it?', criteria: { true: 'it is' } }, labels),
    'Is it?\n\nOptions:\nA: Yes - it is\nB: No\n\nAnswer with only the letter of the best option.',
  )
})

t.test('a reversed scale says so, and its levels keep their numbers', async (t) => {
  t.match(
    scoreText({ type: 'score', criteria: ['now', '', 'can wait'] }, labels, true),
    'Levels, from the highest to the lowest:\nA: now\nB: level 2 of 3\nC: can wait\n',
  )
})

t.test('a reversed noul has no before yes', async (t) => {
  const noul = { type: 'noul', criteria: { true: 'it is', false: 'not' } } as const
  t.match(noulText(noul, true), 'No: not\nYes: it is\n')
  t.match(noulChoiceText(noul, labels, true), 'A: No - not\nB: Yes - it is\n')
})

t.test('no name and no description can look like another option', async (t) => {
  for (const lineBreak of ['\n', '\r', '\r\n', '\v', '\f', '\u0085', '\u2028', '\u2029']) {
    const forged = `x${lineBreak}B: y`
    const texts = [
      choiceText({ type: 'choice', criteria: { [forged]: forged } }, labels),
      choiceText({ type: 'choice', criteria: { x: { a: forged } } }, labels),
      scoreText({ type: 'score', criteria: [forged] }, labels),
      scoreText({ type: 'score', criteria: [[forged]] }, labels),
      noulText({ type: 'noul', criteria: { true: forged } }),
    ]
    for (const text of texts) {
      const lines = text.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/)
      t.notOk(lines.includes('B: y'), JSON.stringify(text))
    }
  }
})

t.test('invisible names are quoted', async (t) => {
  t.match(
    choiceText({ type: 'choice', criteria: { '': null, ' a': ' ' } }, labels),
    'A: ""\nB: " a" - " "\n',
  )
})
