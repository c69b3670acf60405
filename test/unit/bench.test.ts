/**
 * The benchmarks' own arithmetic: statistics, rounds, goals, the command line.
 */
import t from 'tap'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Figures, goalText, isReached } from '../../scripts/bench/figure.js'
import { fitCurve, fitLine } from '../../scripts/bench/fit.js'
import { during, eachOf, times } from '../../scripts/bench/load.js'
import { tenths } from '../../scripts/bench/memory-watch.js'
import { quickly, readOptions } from '../../scripts/bench/options.js'
import { uniqueTokens } from '../../scripts/bench/requests.js'
import { headOf, Results } from '../../scripts/bench/report.js'
import { interleave } from '../../scripts/bench/rounds.js'
import { plot } from '../../scripts/bench/scaling-plot.js'
import { median, percentile, quotients, summarize } from '../../scripts/bench/stats.js'
import { Traffic } from '../../scripts/bench/traffic.js'

t.test('the median is the middle, or the mean of two', async (t) => {
  t.equal(median([3, 1, 2]), 2)
  t.equal(median([4, 1, 3, 2]), 2.5)
  t.throws(() => median([]), RangeError)
})

t.test('the deviation is not moved by one outlier', async (t) => {
  t.same(summarize([10, 12, 11, 500, 9]), { median: 11, min: 9, max: 500, mad: 1 })
})

t.test('a percentile is a value of the series', async (t) => {
  const hundred = Array.from({ length: 100 }, (_, i) => 100 - i)
  t.equal(percentile(hundred, 0.95), 95)
  t.equal(percentile(hundred, 1), 100)
  t.equal(percentile(hundred, 0), 1)
  t.equal(percentile([7], 0.99), 7)
  t.throws(() => percentile([], 0.5), RangeError)
})

t.test('quotients are taken round by round', async (t) => {
  t.same(quotients([10, 30], [5, 10]), [2, 3])
})

const count = () => {
  let at = 0
  return { name: 'count', run: async () => ({ a: ++at }) }
}

t.test('candidates are measured in turn', async (t) => {
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

t.test('a disturbed round is discarded and repeated', async (t) => {
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

t.test('on a machine that stays disturbed the run ends with rounds that say so', async (t) => {
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

t.test('tokens that prompts share are counted once', async (t) => {
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
    type: undefined,
    rounds: 5,
    retries: 5,
    save: true,
    stateTokens: 1000,
    seconds: undefined,
    requests: 10_000,
    quick: false,
  })
  t.match(readOptions(['all', '--rounds', '7']), { rounds: 7, retries: 7 })
})

t.test('a quick run has a quarter of the sizes', async (t) => {
  const sizes = [[], ['--quick']].map((more) =>
    [100, 2].map(quickly(readOptions(['scaling', ...more]))),
  )
  t.same(sizes, [
    [100, 2],
    [25, 1],
  ])
})

t.test('a line is fitted, with the distance of the points from it', async (t) => {
  const exact = fitLine([1, 2, 4].map((x) => ({ x, y: 3 + 2 * x })))
  t.ok(Math.abs(exact.coefficients[0] - 3) < 1e-9)
  t.ok(Math.abs(exact.coefficients[1] - 2) < 1e-9)
  t.ok(Math.abs(exact.r2 - 1) < 1e-9)
  t.ok(exact.worst < 1e-9)

  const near = fitLine([
    { x: 0, y: 0 },
    { x: 1, y: 3 },
    { x: 2, y: 0 },
  ])
  t.ok(Math.abs(near.at(5) - 1) < 1e-9, 'the level line through the middle')
  t.ok(Math.abs(near.r2) < 1e-9, 'it explains nothing')
  t.ok(Math.abs(near.worst - 2) < 1e-9)
  t.throws(() => fitLine([{ x: 1, y: 1 }]), RangeError)
})

t.test('a square is distinguished from a line', async (t) => {
  const { coefficients, r2 } = fitCurve([100, 1000, 4000].map((x) => ({ x, y: 5 * x + x * x })))
  t.ok(Math.abs(coefficients[0] - 5) < 1e-6)
  t.ok(Math.abs(coefficients[1] - 1) < 1e-9)
  t.ok(Math.abs(r2 - 1) < 1e-9)
})

t.test('memory is compared by medians of tenths', async (t) => {
  t.same(tenths([1]), [1, 1])
  t.same(tenths([1, 2]), [2, 2])
  const samples = Array.from({ length: 100 }, (_, i) => i)
  samples[15] = 1_000_000
  t.same(tenths(samples), [15, 94.5])
})

t.test('sources of requests end', async (t) => {
  const taken = <T>(next: () => T | undefined) => [next(), next(), next()]
  let made = 0
  t.same(taken(eachOf(['a', 'b'])), ['a', 'b', undefined])
  t.same(taken(times(2, () => ++made)), [1, 2, undefined])
  t.equal(during(0, () => Buffer.alloc(0))(), undefined)
})

t.test('traffic is mixed, and the same for the same seed', async (t) => {
  const visits = () => {
    const traffic = new Traffic(['oi-one', 'oi-two'], 7)
    return Array.from({ length: 500 }, () => traffic.next())
  }
  const mixed = visits()
  t.same(visits(), mixed)
  t.same(new Set(mixed.map(({ status }) => status)), new Set([200, 400, 401, 404, 422, undefined]))
  for (const key of ['oi-one', 'oi-two']) {
    t.ok(mixed.some(({ bytes }) => bytes.includes(`Bearer ${key}\r\n`)))
  }
})

t.test('a plot is a whole SVG, whatever its texts hold', async (t) => {
  const points = [1, 2, 4].map((x) => ({ x, y: 3000 * x, label: `<${x}&` }))
  const panel = { title: 'a < b & c', points, fit: fitLine(points) }
  const svg = plot([panel, panel], 'of & on')
  const names = [...svg.matchAll(/<(\/?)(\w+)[^<>]*?(\/?)>/g)]
  const open: string[] = []
  for (const [, closes, name, alone] of names) {
    if (closes) t.equal(open.pop(), name)
    else if (!alone) open.push(name!)
  }
  t.same(open, [])
  t.notMatch(svg, /&(?!amp;|lt;)|NaN|Infinity|undefined/)
  t.equal(svg.match(/<circle/g)?.length, 6)
  t.match(svg, /prefers-color-scheme: dark/)
  t.match(svg, /time, s;/)
})

const origin = {
  ...{ machine: 'some-cpu', cpu: 'Some CPU', cores: 2, memoryGiB: 4, node: 'v20' },
  ...{ date: '2026-01-02T03:04:05.678Z', commit: 'c', llamaCommit: 'l', build: 'b' },
  command: 'npm run bench -- all',
}

t.test('results are saved at once, under one date', async (t) => {
  const dir = t.testdir()
  const json = join(dir, 'out.json')
  const results = new Results(origin, { json, csvDir: dir })
  const figure = (layer: string) => {
    const figures = new Figures(layer, { values: new Map([['a', [1, 2]]]), disturbed: 0 })
    figures.add('a', 'ms', { atMost: 2 })
    return figures.all
  }
  const lines = () => readFileSync(join(dir, 'some-cpu.csv'), 'utf8').trim().split('\n')
  const layers = () =>
    (JSON.parse(readFileSync(json, 'utf8')) as { figures: { layer: string }[] }).figures.map(
      ({ layer }) => layer,
    )

  results.add(figure('engine'), 'big, 2 threads')
  t.equal(lines().length, 2)
  t.same(layers(), ['engine'])
  results.note('a condition')
  results.add(figure('soak'), 'small')
  t.same(layers(), ['engine', 'soak'])
  t.match(lines()[1], '2026-01-02T03:04:05.678Z,c,l,b,"big, 2 threads",engine,a,ms,1.5,1,2,')
  t.match(lines()[2], '2026-01-02T03:04:05.678Z,c,l,b,small,soak,a,ms,1.5,1,2,')
  t.same(readdirSync(dir).sort(), ['out.json', 'some-cpu.csv'], 'nothing is left beside them')
  t.match(headOf(results.report), /^model    big, 2 threads: engine\nmodel    small: soak$/m)
  t.match(headOf(results.report), /^note     a condition$/m)
})

t.test('a run that saves nothing leaves nothing', async (t) => {
  const dir = t.testdir()
  new Results(origin, { json: undefined, csvDir: undefined }).add([], 'none')
  t.same(readdirSync(dir), [])
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
