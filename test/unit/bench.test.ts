/**
 * The benchmarks' own arithmetic: statistics, rounds, goals, the command line.
 */
import t from 'tap'
import { Figures, goalText, isReached } from '../../scripts/bench/figure.js'
import { readOptions } from '../../scripts/bench/options.js'
import { uniqueTokens } from '../../scripts/bench/requests.js'
import { interleave } from '../../scripts/bench/rounds.js'
import { median, quotients, summarize } from '../../scripts/bench/stats.js'

t.test('the median is the middle, or the mean of two', async (t) => {
  t.equal(median([3, 1, 2]), 2)
  t.equal(median([4, 1, 3, 2]), 2.5)
  t.throws(() => median([]), RangeError)
})

t.test('the deviation is not moved by one outlier', async (t) => {
  t.same(summarize([10, 12, 11, 500, 9]), { median: 11, min: 9, max: 500, mad: 1 })
})

t.test('quotients are taken round by round', async (t) => {
  t.same(quotients([10, 30], [5, 10]), [2, 3])
})

const count = () => {
  let at = 0
  return { name: 'count', run: async () => ({ a: ++at }) }
}

t.test('things are measured in turn', async (t) => {
  const order: string[] = []
  const subject = (name: string) => ({
    name,
    run: async () => {
      order.push(name)
      return { [name]: order.length }
    },
  })
  const quiet = { watch: () => ({ disturbance: () => undefined }) }
  const subjects = [subject('a'), subject('b')]
  const { values, disturbed } = await interleave(
    subjects,
    { rounds: 2, retries: 0 },
    quiet,
    () => {},
  )
  t.same(order, ['a', 'b', 'a', 'b'])
  t.same(values.get('b'), [2, 4])
  t.equal(disturbed, 0)
})

t.test('a disturbed round is thrown away and done again', async (t) => {
  const reasons = ['a neighbour', undefined, undefined]
  const quiet = { watch: () => ({ disturbance: () => reasons.shift() }) }
  const said: string[] = []
  const rounds = await interleave([count()], { rounds: 2, retries: 5 }, quiet, (line) =>
    said.push(line),
  )
  t.same(rounds.values.get('a'), [2, 3])
  t.equal(rounds.disturbed, 0)
  t.match(said.join('\n'), /round 1 thrown away: a neighbour/)
})

t.test('a machine that stays disturbed ends the run with rounds that say so', async (t) => {
  const quiet = { watch: () => ({ disturbance: () => 'a neighbour' }) }
  const rounds = await interleave([count()], { rounds: 2, retries: 1 }, quiet, () => {})
  t.same(rounds.values.get('a'), [2, 3])
  t.equal(rounds.disturbed, 2)
})

t.test('figures: ratios, the best of several, goals', async (t) => {
  const values = new Map([
    ['a', [4, 6]],
    ['b', [2, 2]],
  ])
  const figures = new Figures('layer', { values, disturbed: 0 })
  t.equal(figures.best(['b', 'a']), 'a')
  figures.addRatio('a / b', 'a', 'b', { atLeast: 2.5 })
  figures.add('b', 'ms', { atMost: 1 })
  figures.add('a', 'ms')
  t.same(figures.all[0]!.values, [2, 3])
  t.same(figures.all.map(isReached), [true, false, undefined])
  t.same(figures.all.map(goalText), ['≥ 2.5', '≤ 1', ''])
  t.throws(() => figures.add('c', 'ms'), /nothing measured "c"/)
})

t.test('what prompts share is counted once', async (t) => {
  t.equal(
    uniqueTokens([
      [1, 2, 3],
      [1, 2, 4, 5],
      [1, 2],
      [1, 2, 3],
    ]),
    5,
  )
  t.equal(uniqueTokens([[7], [8, 9]]), 3)
})

t.test('options have defaults', async (t) => {
  t.match(readOptions(['engine']), {
    layers: ['engine'],
    type: 'Q4_0',
    rounds: 5,
    retries: 5,
    save: true,
    stateTokens: 1000,
  })
  t.match(readOptions(['all', '--rounds', '7']), { rounds: 7, retries: 7 })
  t.equal(readOptions(['--help']), 'help')
})

for (const [title, args, message] of [
  ['no layer', [], /^Name a layer: ceiling, /],
  ['an unknown layer', ['engin'], /^Unknown layer engin: expected one of ceiling, /],
  ['two layers', ['engine', 'http'], /^One layer at a time/],
  ['an unknown option', ['engine', '--round', '3'], /--round/],
  ['a number that is none', ['engine', '--rounds', 'many'], /^--rounds: expected a whole number/],
  [
    'a choice that is none',
    ['engine', '--flash', 'yes'],
    /^--flash: expected one of auto, on, off/,
  ],
] as const) {
  t.test(`${title} is refused, with the remedy`, async (t) => {
    t.throws(() => readOptions(args), { message })
  })
}
