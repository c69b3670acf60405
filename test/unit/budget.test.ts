import t from 'tap'
import { checkBudget, mostBudgetTokens, type Period, periodAt } from '../../src/accounts/budget.js'

const at = (text: string) => Date.parse(text)
const text = (ms: number) => new Date(ms).toISOString().slice(0, 16)

for (const [period, now, start, end] of [
  ['day', '2026-11-26T00:00:00Z', '2026-11-26T00:00', '2026-11-27T00:00'],
  ['day', '2026-11-26T23:59:59.999Z', '2026-11-26T00:00', '2026-11-27T00:00'],
  ['week', '2026-11-26T12:00:00Z', '2026-11-23T00:00', '2026-11-30T00:00'],
  ['week', '2026-11-29T23:59:59.999Z', '2026-11-23T00:00', '2026-11-30T00:00'],
  ['week', '2026-11-30T00:00:00Z', '2026-11-30T00:00', '2026-12-07T00:00'],
  ['week', '2027-01-01T00:00:00Z', '2026-12-28T00:00', '2027-01-04T00:00'],
  ['month', '2026-11-30T23:59:59.999Z', '2026-11-01T00:00', '2026-12-01T00:00'],
  ['month', '2026-12-31T12:00:00Z', '2026-12-01T00:00', '2027-01-01T00:00'],
  ['month', '2028-02-29T12:00:00Z', '2028-02-01T00:00', '2028-03-01T00:00'],
] as const satisfies readonly (readonly [Period, string, string, string])[]) {
  t.test(`the ${period} of ${now} is from ${start} to ${end}`, async (t) => {
    const { startMs, endMs } = periodAt(period, at(now))
    t.strictSame([text(startMs), text(endMs)], [start, end])
  })
}

t.test('a budget is a whole number of tokens in a known period', async (t) => {
  checkBudget({ tokens: 1, period: 'day' })
  checkBudget({ tokens: mostBudgetTokens, period: 'month' })
  for (const tokens of [0, -1, 1.5, NaN, mostBudgetTokens + 1]) {
    t.throws(() => checkBudget({ tokens, period: 'day' }), { code: 'ERR_ACCOUNTS' })
  }
  t.throws(() => checkBudget({ tokens: 1, period: 'year' as Period }), { code: 'ERR_ACCOUNTS' })
})
