/** Rows with nearly the same words are found, and others are not. */
import t from 'tap'
import { askRows } from '../../src/evaluate/calibrate/ask-rows.js'
import {
  areNearCopies,
  groupNearCopies,
  sketchOf,
} from '../../src/evaluate/calibrate/near-copies.js'
import { splitRows } from '../../src/evaluate/calibrate/split.js'
import type { Json } from '../../src/api/json.js'
import type { LabelledRow } from '../../src/evaluate/rows/types.js'
import { decisionOn } from '../helpers/labelled.js'
import { createRandom } from '../helpers/random.js'

const near = (a: Json, b: Json) =>
  areNearCopies(sketchOf({ state: a })!, sketchOf({ state: b })!) &&
  areNearCopies(sketchOf({ state: b })!, sketchOf({ state: a })!)

const complaint = 'I was charged twice for my order and nobody answers the phone.'
const random = createRandom(4)
const long = Array.from({ length: 3000 }, () => `word${random.integer(100_000)}`)

t.test('rows that differ in case, punctuation, one word or digits are near copies', async (t) => {
  for (const other of [
    complaint.toUpperCase(),
    complaint.replaceAll(' ', '\n  '),
    complaint.replace('.', '!!! :-)'),
    `${complaint} Thanks`,
    complaint.replace('my ', ''),
    complaint.replace('nobody', 'noone'),
  ]) {
    t.ok(near(complaint, other), other)
  }
  t.ok(near({ subject: 'Money', body: complaint }, { body: `${complaint} (2)`, subject: 'money' }))
  t.ok(near('请问我的订单什么时候到？谢谢您的帮助', '请问我的订单什么时候到！谢谢您的帮助'))
})

t.test('texts with different content are not', async (t) => {
  for (const [a, b] of [
    ['Ticket 7', 'Ticket 8'],
    [7, 8],
    [
      { vip: true, late: false },
      { vip: false, late: false },
    ],
    ['Where is my card payment?', 'Where is my parcel now?'],
    [complaint, 'I was charged once.'],
    ['你好', '再见'],
  ] as const) {
    t.notOk(near(a, b), JSON.stringify([a, b]))
  }
})

t.test('long texts are compared by a part of their words', async (t) => {
  const changed = long.map((word, i) => (i % 40 === 0 ? 'other' : word))
  const half = long.map((word, i) => (i % 2 === 0 ? word : `new${i}`))
  t.ok(near(long.join(' '), changed.join(' ')))
  t.notOk(near(long.join(' '), half.join(' ')))
  t.equal(sketchOf({ state: long.join(' ') })!.hashes.length, 128)
})

t.test('images and states without words are never near copies', async (t) => {
  t.equal(sketchOf({ state: complaint, images: ['data:'] }), undefined)
  t.equal(sketchOf({ state: { data: 'A'.repeat(5000), text: complaint } }), undefined)
  t.equal(sketchOf({ state: '?!' }), undefined)
})

t.test('groups are the same in any order, and include near copies of near copies', async (t) => {
  const rows = ['', ' Thanks', ' Thanks a lot', ' Many thanks a lot'].map((end, i) => {
    return { row: `r${i}`, sketch: sketchOf({ state: complaint + end }) }
  })
  const other = { row: 'a', sketch: sketchOf({ state: 'Something else altogether.' }) }
  const expected = [['a', 'a'], ...rows.map(({ row }) => [row, 'r0'])]
  for (const order of [
    [other, ...rows],
    [...rows.toReversed(), other],
  ]) {
    t.strictSame([...groupNearCopies(order)].sort(), expected)
  }
})

t.test('no near copy is on the other side of the split', async (t) => {
  const subjects = 'parcel invoice password refund camera keyboard ticket window engine garden'
  const texts = subjects
    .split(' ')
    .flatMap((one) => ['today', 'twice', 'never', 'again'].map((when) => [one, when] as const))
    .map(([one, when], i) => `${one} ${when} ${one}${i} ${when}${i} item${i} number${i} seen${i}`)
  async function* rows(): AsyncGenerator<LabelledRow> {
    for (const [i, state] of texts.flatMap((text) => [text, `${text}!`, `Hi, ${text}`]).entries()) {
      const questions = { q: { type: 'noul', instructions: '?' } } as const
      const request = { state, questions }
      yield { line: i + 1, request, record: { line: i + 1, json: null }, expected: { q: true } }
    }
  }
  const seen = await askRows(rows(), async (request) => decisionOn(request))
  t.equal(new Set(seen.map(({ row }) => row)).size, texts.length)
  const { fitted, heldOut } = splitRows(seen, 0.3, 1)
  t.ok(heldOut.length > 15 && heldOut.length % 3 === 0, `${heldOut.length}`)
  t.equal(fitted.length % 3, 0)
})

t.test('ten thousand rows of one template are compared in seconds', async (t) => {
  const rows = Array.from({ length: 10_000 }, (_, i) => ({
    row: String(i),
    sketch: sketchOf({
      state: { text: `Dear team, ${long.slice(i % 2900, (i % 2900) + 12).join(' ')}`, i },
    }),
  }))
  const started = performance.now()
  groupNearCopies(rows)
  t.ok(performance.now() - started < 20_000)
})
