/** Temperatures in a decision model's metadata: buckets, precedence, bad values. */
import t from 'tap'
import type { ModelInfo } from '../../src/engine/types.js'
import { families } from '../../src/prompt/native/families.js'
import { readTemperatures } from '../../src/prompt/native/temperatures.js'
import { ownCalibration } from '../../src/scoring/calibration.js'
import { createFakeEngine } from '../helpers/fake-engine.js'

const infoOf = (temperatures: Readonly<Record<string, string>>): ModelInfo => ({
  ...createFakeEngine().info,
  metadata: Object.fromEntries(
    Object.entries(temperatures).map(([name, value]) => [
      `fake.decision.temperature.${name}`,
      value,
    ]),
  ),
})

t.test("each family's buckets, at their borders", async (t) => {
  for (const [type, names, borders] of [
    ['openjev', ['2', '3_5', '6_10', '11'], [1, 2, 3, 5, 6, 10, 11, 255]],
    ['lev', ['small', 'small', 'mid', 'large'], [1, 2, 3, 8, 9, 26, 27, 255]],
  ] as const) {
    const all = [...new Set(names)]
    const values = Object.fromEntries(all.map((name, i) => [`choice.${name}`, `${i + 1}.5`]))
    const rows = readTemperatures(infoOf(values), families[type]!.buckets)
    const found = borders.map((count) => ownCalibration(rows)('choice', count)?.temperature)
    t.strictSame(
      found,
      borders.map((_, i) => all.indexOf(names[i >> 1]!) + 1.5),
      type,
    )
    t.equal(ownCalibration(rows)('score', 3), undefined, 'of this type only')
  }
})

t.test('a bucket comes before its type, and the type fills the other buckets', async (t) => {
  const info = infoOf({ choice: '2.000000', 'choice.3_5': '0.500000', noul: '3' })
  const rows = readTemperatures(info, families['nimble']!.buckets)
  const found = [2, 3, 5, 6, 200].map((count) => ownCalibration(rows)('choice', count)?.temperature)
  t.strictSame(found, [2, 0.5, 0.5, 2, 2])
  t.equal(ownCalibration(rows)('noul', 2)?.temperature, 3)
})

t.test('a model without temperatures has none', async (t) => {
  t.strictSame(readTemperatures(infoOf({}), families['nimble']!.buckets), [])
})

t.test('a temperature that is not a number above 0 is refused with its key', async (t) => {
  for (const value of ['0', '-1', 'nan', 'inf', '', ' ', '1,5']) {
    for (const name of ['noul', 'choice.11']) {
      t.throws(() => readTemperatures(infoOf({ [name]: value }), families['openjev']!.buckets), {
        code: 'ERR_READOUT',
        message: `fake.decision.temperature.${name}: expected a number above 0, got ${value}`,
      })
    }
  }
})
