/** The output of `oi models inspect --render` for one suffix and for several. */
import t from 'tap'
import { promptText, showPrompt } from '../../src/cli/models/rendering-text.js'
import type { Question } from '../../src/decide/types.js'
import type { Rendering } from '../../src/prompt/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import { meaningsOf } from '../../src/scoring/meanings.js'
import type { Reading } from '../../src/scoring/types.js'
import { createFakeEngine } from '../helpers/fake-engine.js'

const criteria = { x: null, y: null, z: null }
const question: Question = { type: 'choice', criteria }
const tokenTexts = new Map(['A', 'B', 'C'].map((text, i) => [i + 1, text]))

/** A question whose suffixes have these candidates; each text is its number. */
function rendering(reading: Reading, ...candidates: number[][]): Rendering {
  const suffixes = candidates.map((tokens, i) => ({
    parts: [{ text: `text ${i + 1}\n`, trusted: false }],
    candidates: Int32Array.from(tokens),
  }))
  const prefix = [{ text: 'state', trusted: false }]
  return { input: { prefix, suffixes }, readers: [{ name: 'q', question, reading }] }
}

const labels: Reading = { kind: 'labels', forms: [1, 1, 1] }
const orders: Reading = {
  kind: 'orders',
  orders: [
    { places: [0, 1, 2], reading: labels },
    { places: [2, 0, 1], reading: labels },
  ],
}
t.test('a candidate stands for the option that is read from it', async (t) => {
  t.strictSame(meaningsOf({ kind: 'labels', forms: [2, 1] }), [[[0], [0], [1]]])
  t.strictSame(meaningsOf({ kind: 'labels', forms: [] }), [[]])
  t.strictSame(meaningsOf(orders), [
    [[0], [1], [2]],
    [[1], [2], [0]],
  ])
})

t.test('every order of a question is shown with its own labels', async (t) => {
  const shown = showPrompt(rendering(orders, [1, 2, 3], [1, 2, 3]), tokenTexts)
  t.match(
    promptText(shown),
    [
      'question "q" (choice)',
      'suffix 1 of 2',
      '  U │ text 1⏎',
      'labels  "A" = x, "B" = y, "C" = z',
      'suffix 2 of 2',
      '  U │ text 2⏎',
      'labels  "A" = y, "B" = z, "C" = x',
      '',
    ].join('\n'),
  )
})

t.test('questions of several suffixes do not move the labels of other questions', async (t) => {
  const both = rendering(orders, [1, 2, 3], [2, 1, 3], [3, 2, 1])
  const next = { name: 'next', question, reading: labels }
  const shown = showPrompt({ ...both, readers: [...both.readers, next] }, tokenTexts)
  t.strictSame(
    shown.questions[1]!.suffixes.map(({ labels }) => labels.map(({ label }) => label)),
    [['C', 'B', 'A']],
  )
})

t.test('forms of one answer are shown together, and a single option has no label', async (t) => {
  const readout = await createReadout(createFakeEngine())
  const request = {
    state: 'a\u0007b',
    questions: {
      n: { type: 'noul', instructions: '?' },
      s: { type: 'score', criteria: ['low', 'high'] },
      one: { type: 'choice', criteria: { only: null } },
    },
  } as const
  const text = promptText(showPrompt(readout.render(request), readout.tokenTexts))
  t.match(text, /^labels {2}"No" "no" .* = no, "Yes" "yes" .* = yes$/m)
  t.match(text, /^labels {2}"A" = 0, "B" = 1$/m)
  t.match(text, /^labels {2}none, there is one option$/m)
  t.match(text, 'U │ a\\u0007b⏎')
})
