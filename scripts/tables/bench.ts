/**
 * The table of the benchmarks' guide, from the results of runs.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { resultsDir } from '../bench/report.js'
import { markdownTable } from '../markdown.js'

/** Runs of `npm run bench -- all`, one column each. */
const runs = [
  {
    title: 'Zen 5',
    file: 'amd-epyc-family-26-model-2-2-cores.csv',
    date: '2026-11-23T02:36:38.544Z',
  },
  {
    title: 'Xeon with AMX',
    file: 'intel-xeon-processor-family-6-model-167-2-cores.csv',
    date: '2026-11-23T13:20:30.856Z',
  },
] as const

/** From a single run; the last one counts. */
const longSoak = 'npm run bench -- soak --requests 100000'

/**
 * A row: the layer, the figure's name in the results, the table's text if it differs, and the
 * command of its run if that is not the run of all layers.
 */
type Shown = readonly [layer: string, figure: string, words?: string, command?: string]

const growth = 'resident memory, growth'
const growthWords = 'resident memory, last tenth of the time against the second'
const cached = 'new request, 32 other states in the cache'
const [added, longShorts] = ['added p50, one short request', 'p95 beside the long one']
const front = '4 KB bodies of 3 questions, 32 connections, one core; keys, limits and ledger on'
const shown: readonly Shown[] = [
  ['engine', 'engine state', 'new state of 1,000 tokens'],
  ['engine', 'state / ceiling', 'the same / best of llama-bench'],
  ['engine', 'engine questions', '8 questions of 40 tokens on it'],
  ['engine', 'questions / ceiling', 'the same / best of llama-bench'],
  ['engine', `${cached}: time`, 'new request beside 32 cached states'],
  ['engine', `${cached}: speed / empty cache`, 'its speed / empty cache'],
  ['http', 'server, peak', 'new states over HTTP, 4 clients'],
  ['http', 'server / engine', 'the same / engine'],
  ['http', added, 'added to one short request'],
  ['http', `${added} to the small model`, 'the same, to the small model of this package'],
  ['http', 'added p50 at 80 % of the peak', 'the same at 80 % of the peak, 32 connections'],
  ['front', 'uWebSockets.js, by the clock', front],
  ['front', 'uWebSockets.js / node:http, by the clock', 'the same / node:http'],
  ...peer('new state, 16 questions', 'new state of 1,000 tokens, 16 questions'),
  [
    'peer',
    'new state, 16 questions: ours / peer, nothing shared',
    'the same / llama-server with a prompt of its own for each question',
  ],
  ...peer('same state, 16 new questions'),
  ...peer('one question, one short state', 'one question on one short state'),
  ...peer('32 clients, short states, 3 questions'),
  ['fairness', 'p95 while another floods', 'p95 beside a flood'],
  ['fairness', 'p95 while another floods / alone', 'the same / alone'],
  [
    'fairness',
    'p95 of the short ones beside the long one',
    'p95 of 100 short requests beside a state of 12,000 tokens',
  ],
  ['fairness', `${longShorts} / (2 × p95 alone + a step)`, 'the same / (2 × alone + a step)'],
  ['overload', 'answered', 'answered at twice the rate, 3 minutes'],
  ['overload', 'refused, with the time to come back'],
  ['overload', 'ended otherwise'],
  ['overload', 'latency p99 of answered ones'],
  ['overload', growth, growthWords],
  ['soak', 'failures', 'failures of 10,000 mixed requests'],
  ['soak', 'handles left'],
  ['soak', growth, growthWords],
  ['soak', growth, 'the same over 100,000 requests', longSoak],
]

function peer(figure: string, words = figure): readonly Shown[] {
  return [
    ['peer', `${figure}: ours`, words],
    ['peer', `${figure}: ours / peer, default`, 'the same / llama-server'],
    ['peer', `${figure}: ours / peer, best`, 'the same / llama-server with its best flags'],
  ]
}

interface Measured {
  readonly unit: string
  readonly median: number
  /** As `≥ 0.95`; empty without a goal. */
  readonly goal: string
}

/** @throws Error if the results lack a figure that every run has. */
export function benchTable(): string {
  const columns = runs.map((run) => {
    const results = readResults(run.file)
    return shown.map((row) => find(results, row, run.date))
  })
  const rows = shown.map(([layer, figure, words = figure], i) => {
    const cells = columns.map((column) => column[i])
    const any = cells.find((cell) => cell !== undefined)
    if (any === undefined) throw new Error(`No run has the figure ${layer}, ${figure}`)
    const unit = any.unit === '×' ? '' : `, ${any.unit}`
    return [`\`${layer}\``, words + unit, any.goal, ...cells.map(textOf)]
  })
  return markdownTable(['Layer', 'Figure', 'Goal', ...runs.map(({ title }) => title)], rows)
}

type Results = readonly Readonly<Record<string, string>>[]

function readResults(file: string): Results {
  return parse(readFileSync(join(resultsDir, file), 'utf8'), { columns: true })
}

function find(
  results: Results,
  [layer, figure, , command]: Shown,
  date: string,
): Measured | undefined {
  const found = results.findLast(
    (one) =>
      one['layer'] === layer &&
      one['figure'] === figure &&
      (command === undefined ? one['date'] === date : one['command'] === command),
  )
  return found && { unit: found['unit']!, median: Number(found['median']), goal: found['goal']! }
}

function textOf(measured: Measured | undefined): string {
  if (measured === undefined) return 'not run'
  const { unit, median, goal } = measured
  const sign = unit === '%' && median > 0 ? '+' : ''
  const text = sign + numberText(median)
  const [, relation, limit] = /^([≥≤]) (.+)$/.exec(goal) ?? []
  if (limit === undefined) return text
  const most = Number(limit.replaceAll(',', ''))
  return (relation === '≥' ? median >= most : median <= most) ? text : `${text}: missed`
}

/** Three significant digits, or all digits of a whole number. */
function numberText(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 1000) {
    return Math.round(value).toLocaleString('en-US')
  }
  return String(Number(value.toPrecision(3)))
}
