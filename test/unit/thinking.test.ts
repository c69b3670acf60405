/** Rendered tails, and where the answer begins after them. */
import t from 'tap'
import { answerTail } from '../../src/prompt/thinking.js'

const rendering = (tail: string, replyTail?: string) => ({
  head: '',
  between: '\n\n',
  tail,
  replyTail,
})
const noSwitch = 'no switch: {% if message.thinking %}, and thinking about text and thinking chunks'
const refused = { code: 'ERR_READOUT' }

t.test('tails after which the model answers at once are unchanged', async (t) => {
  for (const [tail, replyTail] of [
    ['<a>', '<a>'],
    ['<a>', undefined],
    ['<a>', '<b>'],
    ['<a>', '<a> '],
    ['<a><think>\n\n</think>\n\n', '<a>'],
    ['<a></think>', '<a></think>'],
    ['<a><think></think>', '<a></think>'],
    ['<|end|>\n<a>', '<|end|>\n<a>'],
    ['<a><|channel>thought\n<channel|>', '<a>'],
  ] as const) {
    t.equal(answerTail(rendering(tail, replyTail), noSwitch), tail, `${tail} ${replyTail}`)
  }
})

t.test('an open thinking block is closed if a switch should have closed it', async (t) => {
  for (const [tail, expected] of [
    ['<a><think>\n', '<a><think>\n\n</think>\n\n'],
    ['<a><think>', '<a><think></think>'],
    ['<a>[THINK]', '<a>[THINK][/THINK]'],
    ['<a><seed:think>\n', '<a><seed:think>\n\n</seed:think>\n\n'],
    ['<a><|START_THINKING|>', '<a><|START_THINKING|><|END_THINKING|>'],
    ['<think></think><a><think>', '<think></think><a><think></think>'],
    ['<|end|><a><|think|>', '<|end|><a><|think|><|end|>'],
  ] as const) {
    for (const source of [
      '{% if enable_thinking %}',
      '{% if not thinking %}',
      'reasoning_effort',
    ]) {
      t.equal(answerTail(rendering(tail), source), expected, `${tail} ${source}`)
    }
  }
})

t.test('a template that always thinks is refused with the reason', async (t) => {
  for (const tail of ['<a><think>\n', '<a>[THINK]', '<a><thinking>']) {
    t.throws(
      () => answerTail(rendering(tail), noSwitch),
      { ...refused, message: /always opens .* no switch/ },
      tail,
    )
  }
})

t.test("the beginning of the template's own replies is appended", async (t) => {
  for (const [tail, replyTail, expected] of [
    ['<a>\n', '<a>\n<think>\n\n</think>\n\n', '<a>\n<think>\n\n</think>\n\n'],
    ['<a>', '<a><|channel|>final<|message|>', '<a><|channel|>final<|message|>'],
    ['<a><think></think>', '<a><think></think>\n', '<a><think></think>\n'],
    [
      '<a><|START_THINKING|><|END_THINKING|>',
      '<a><|START_TEXT|>',
      '<a><|START_THINKING|><|END_THINKING|><|START_TEXT|>',
    ],
    ['<a><|think|><|end|><a>', '<a><|content|>', '<a><|think|><|end|><a><|content|>'],
  ] as const) {
    t.equal(answerTail(rendering(tail, replyTail), noSwitch), expected, tail)
  }
})

t.test('an unknown kind of thinking is refused', async (t) => {
  for (const tail of ['<a>Here are my reasoning steps:\n', '<a><deep_thought>', '<|think_more|>']) {
    t.throws(() => answerTail(rendering(tail, '<b>'), noSwitch), refused, tail)
  }
})
