/**
 * `node dist/scripts/train/check/evaluate.js`: the figures that the model is to reach, and what it
 * reaches, on the sets that `make_sets.py` wrote.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { open, type Oi } from '../../../src/open.js'
import { runCommand } from '../../command.js'
import { auroc, expectedError, median, type Certainty } from './figures.js'
import { observeRows, type Observed } from './observe.js'

const usage = `Usage: evaluate [--model FILE] [--sets FOLDER] [--limit N] [--json]

  --model FILE    build/train/oi-small.gguf by default
  --sets FOLDER   build/train/sets by default, of make_sets.py
  --limit N       rows of each set at most
  --threads N     of the model; 2 by default
  --json          one JSON document instead of a table`

type Figure = 'accuracy' | 'within half' | 'auroc' | 'median ms'

interface SetFacts {
  readonly name: string
  readonly about: string
  readonly figure: Figure
  readonly goal: number | null
}

interface Row {
  readonly name: string
  readonly about: string
  readonly figure: string
  readonly goal: number | null
  readonly value: number
  readonly count: number
}

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      model: { type: 'string', default: 'build/train/oi-small.gguf' },
      sets: { type: 'string', default: 'build/train/sets' },
      limit: { type: 'string', default: '1000000' },
      threads: { type: 'string', default: '2' },
      json: { type: 'boolean' },
    },
  })
  if (values.help) {
    console.log(usage)
    return 0
  }
  const { others, sets } = JSON.parse(readFileSync(join(values.sets, 'sets.json'), 'utf8')) as {
    others: readonly string[]
    sets: readonly SetFacts[]
  }
  const oi = await open({ model: values.model, threads: Number(values.threads) })
  try {
    const rows = await evaluate(oi, sets, others, values.sets, Number(values.limit))
    console.log(
      values.json ? JSON.stringify({ model: oi.card.digest, rows }, null, 1) : tableOf(rows),
    )
  } finally {
    await oi.close()
  }
  return 0
}

async function evaluate(
  oi: Oi,
  sets: readonly SetFacts[],
  others: readonly string[],
  folder: string,
  limit: number,
): Promise<Row[]> {
  const rows: Row[] = []
  const certainties: Certainty[] = []
  const turned: boolean[] = []
  for (const set of sets) {
    // Latency is that of a server with nothing else to do.
    const concurrency = set.figure === 'median ms' ? 1 : 16
    const observed = await observeRows(oi, join(folder, `${set.name}.jsonl`), {
      limit,
      concurrency,
    })
    rows.push({ ...set, value: valueOf(set.figure, observed, others), count: observed.length })
    if (set.figure === 'median ms') continue
    for (const { certainty, flipped } of observed) {
      certainties.push(certainty)
      if (flipped !== undefined) turned.push(flipped)
    }
  }
  const overall = { about: 'all sets together' }
  const flips = turned.filter(Boolean).length / turned.length
  return [
    ...rows,
    {
      ...{ name: 'ECE', ...overall, figure: 'at most', goal: 0.05 },
      ...{ value: expectedError(certainties), count: certainties.length },
    },
    {
      name: 'flips',
      ...overall,
      figure: 'at most',
      goal: 0.05,
      value: flips,
      count: turned.length,
    },
  ]
}

function valueOf(figure: Figure, observed: readonly Observed[], others: readonly string[]): number {
  if (figure === 'median ms') return median(observed.map(({ latencyMs }) => latencyMs))
  if (figure === 'auroc') return aurocOfOther(observed, others)
  const good = observed.filter(({ certainty, error }) => {
    return figure === 'accuracy' ? certainty.correct : (error ?? Infinity) <= 0.5
  })
  return good.length / observed.length
}

/** Whether the probability of the option for everything else tells what fits no other option. */
function aurocOfOther(observed: readonly Observed[], others: readonly string[]): number {
  const scores = observed.flatMap(({ options, probabilities, right }) => {
    const at = options.findIndex((name) => others.includes(name))
    return at === -1 ? [] : [{ score: probabilities[at]!, positive: right === at }]
  })
  return auroc(scores)
}

function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ name, about, figure, goal, value, count }) => {
    const atMost = figure === 'at most' || figure === 'median ms'
    const reached = goal === null || (atMost ? value <= goal : value >= goal)
    const digits = figure === 'median ms' ? 1 : 3
    const cells = [name, about, figure, goal === null ? '' : String(goal), value.toFixed(digits)]
    return [...cells, goal === null ? '' : reached ? 'yes' : 'no', String(count)]
  })
  const all = [['set', 'what', 'figure', 'goal', 'value', 'reached', 'answers'], ...lines]
  const widths = all[0]!.map((_, i) => Math.max(...all.map((line) => line[i]!.length)))
  return all
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
