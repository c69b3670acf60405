/**
 * The table of the benchmarks' guide, from the results of runs.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { resultsDir } from '../bench/report.js'
import { readCsv } from '../convert/csv.js'
import { markdownTable, marksOf } from '../markdown.js'

export const guidePath = 'scripts/bench/README.md'
export const marks = marksOf('npm run bench:table')

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

interface Shown {
  readonly layer: string
  /** The name in the results. */
  readonly figure: string
  /** The table's text, if it differs. */
  readonly words?: string
  /** The run, if it is not that of all layers. */
  readonly command?: string
}

const short = 'one question on one short state'
const cached = 'new request, 32 other states in the cache'
const shown: readonly Shown[] = [
  { layer: 'engine', figure: 'engine state', words: 'new state of 1,000 tokens' },
  { layer: 'engine', figure: 'state / ceiling', words: 'the same / best of llama-bench' },
  { layer: 'engine', figure: 'engine questions', words: '8 questions of 40 tokens on it' },
  { layer: 'engine', figure: 'questions / ceiling', words: 'the same / best of llama-bench' },
  { layer: 'engine', figure: `${cached}: time`, words: 'new request beside 32 cached states' },
  { layer: 'engine', figure: `${cached}: speed / empty cache`, words: 'its speed / empty cache' },
  { layer: 'http', figure: 'server, peak', words: 'new states over HTTP, 4 clients' },
  { layer: 'http', figure: 'server / engine', words: 'the same / engine' },
  { layer: 'http', figure: 'added p50, one short request', words: 'added to one short request' },
  {
    layer: 'http',
    figure: 'added p50, one short request to the small model',
    words: 'the same, to the small model of this package',
  },
  {
    layer: 'http',
    figure: 'added p50 at 80 % of the peak',
    words: 'the same at 80 % of the peak, 32 connections',
  },
  {
    layer: 'front',
    figure: 'uWebSockets.js, by the clock',
    words: '4 KB bodies of 3 questions, 32 connections, one core; keys, limits and ledger on',
  },
  {
    layer: 'front',
    figure: 'uWebSockets.js / node:http, by the clock',
    words: 'the same / node:http',
  },
  ...peer('new state, 16 questions', 'new state of 1,000 tokens, 16 questions'),
  {
    layer: 'peer',
    figure: 'new state, 16 questions: ours / peer, nothing shared',
    words: 'the same / llama-server with a prompt of its own for each question',
  },
  ...peer('same state, 16 new questions', 'same state, 16 new questions'),
  ...peer('one question, one short state', short),
  ...peer('32 clients, short states, 3 questions', '32 clients, short states, 3 questions'),
  { layer: 'fairness', figure: 'p95 while another floods', words: 'p95 beside a flood' },
  { layer: 'fairness', figure: 'p95 while another floods / alone', words: 'the same / alone' },
  {
    layer: 'fairness',
    figure: 'p95 of the short ones beside the long one',
    words: 'p95 of 100 short requests beside a state of 12,000 tokens',
  },
  {
    layer: 'fairness',
    figure: 'p95 beside the long one / (2 × p95 alone + a step)',
    words: 'the same / (2 × alone + a step)',
  },
  { layer: 'overload', figure: 'answered', words: 'answered at twice the rate, 3 minutes' },
  { layer: 'overload', figure: 'refused, with the time to come back' },
  { layer: 'overload', figure: 'ended otherwise' },
  { layer: 'overload', figure: 'latency p99 of answered ones' },
  { layer: 'overload', figure: 'resident memory, growth', words: growth() },
  { layer: 'soak', figure: 'failures', words: 'failures of 10,000 mixed requests' },
  { layer: 'soak', figure: 'handles left' },
  { layer: 'soak', figure: 'resident memory, growth', words: growth() },
  {
    layer: 'soak',
    figure: 'resident memory, growth',
    words: 'the same over 100,000 requests',
    command: longSoak,
  },
]

function peer(figure: string, words: string): readonly Shown[] {
  return [
    { layer: 'peer', figure: `${figure}: ours`, words },
    { layer: 'peer', figure: `${figure}: ours / peer, default`, words: 'the same / llama-server' },
    {
      layer: 'peer',
      figure: `${figure}: ours / peer, best`,
      words: 'the same / llama-server with its best flags',
    },
  ]
}

function growth(): string {
  return 'resident memory, last tenth of the time against the second'
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
  const rows = shown.map(({ layer, figure, words = figure }, i) => {
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
  const [names = [], ...rows] = readCsv(readFileSync(join(resultsDir, file), 'utf8'))
  return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? ''])))
}

function find(results: Results, row: Shown, date: string): Measured | undefined {
  const found = results.findLast(
    (one) =>
      one['layer'] === row.layer &&
      one['figure'] === row.figure &&
      (row.command === undefined ? one['date'] === date : one['command'] === row.command),
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
