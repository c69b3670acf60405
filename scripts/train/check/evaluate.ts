/**
 * `node dist/scripts/train/check/evaluate.js`: the figures that the model is to reach, and what it
 * reaches, on the sets that `make_sets.py` wrote.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createClient } from '../../../src/client/index.js'
import { LogHistogram } from '../../../src/evaluate/figures/histogram.js'
import { measureRow } from '../../../src/evaluate/measure.js'
import { rowsOf } from '../../../src/evaluate/rows/rows.js'
import { RowsFile } from '../../../src/evaluate/rows/rows-file.js'
import { runRows } from '../../../src/evaluate/run.js'
import { localSubject, remoteSubject, type Subject } from '../../../src/evaluate/subject.js'
import { type Figures, Tally } from '../../../src/evaluate/figures/tally.js'
import { open } from '../../../src/open.js'
import { layOut } from '../../../src/terminal/text-table.js'
import { runCommand, UsageError } from '../../command.js'

const usage = `Usage: evaluate [--model FILE | --url ADDRESS] [--sets FOLDER]

  --model FILE    default build/train/oi-small.gguf
  --url ADDRESS   a running server instead; its key in OI_KEY
  --sets FOLDER   sets of make_sets.py (default build/train/sets)`

type Figure = 'accuracy' | 'within half' | 'auroc' | 'median ms'

interface SetFacts {
  readonly name: string
  readonly about: string
  readonly figure: Figure
  readonly goal: number | null
}

interface Row extends Omit<SetFacts, 'figure'> {
  readonly figure: Figure | 'at most'
  readonly value: number
  readonly count: number
}

interface Measured {
  readonly figures: Figures
  readonly medianMs: number
}

/** Of one request. */
const limits = { maxQuestions: 256, maxOptions: 255, maxLevels: 255 }
/** A server may say ten times that a row has to wait, and then goes on waiting. */
const maxRetries = 10

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      model: { type: 'string' },
      url: { type: 'string' },
      sets: { type: 'string', default: 'build/train/sets' },
    },
  })
  const { model = 'build/train/oi-small.gguf', url } = values
  if (url !== undefined) {
    const apiKey = process.env['OI_KEY']
    if (!apiKey || values.model !== undefined) {
      throw new UsageError('--url needs a key in OI_KEY, and has a model of its own.')
    }
    await print(
      await remoteSubject(createClient({ baseUrl: url, apiKey, maxRetries })),
      values.sets,
    )
    return 0
  }
  const oi = await open({ model, threads: 2 })
  try {
    await print(localSubject(oi), values.sets)
  } finally {
    await oi.close()
  }
  return 0
}

async function print(subject: Subject, folder: string): Promise<void> {
  const { others, sets } = JSON.parse(readFileSync(join(folder, 'sets.json'), 'utf8')) as {
    others: readonly string[]
    sets: readonly SetFacts[]
  }
  const overall = new Tally()
  const choices = new Tally()
  const rows: Row[] = []
  for (const set of sets) {
    // Latency is that of a server with nothing else to do, and no answer more is counted.
    const alone = set.figure === 'median ms'
    const measured = await measure(subject, join(folder, `${set.name}.jsonl`), {
      ...{ others: new Set(others), alone, overall, choices },
    })
    rows.push({ ...set, value: valueOf(set.figure, measured), count: measured.figures.answers })
  }
  const all = overall.figures()
  const both = { about: 'all sets together', figure: 'at most' } as const
  rows.push({ name: 'ECE', ...both, goal: 0.03, value: all.ece, count: all.answers })
  // Only choices: levels in reverse, under a question that says lowest first, are another question.
  const { flips } = choices.figures()
  if (flips) {
    rows.push({ name: 'flips', ...both, goal: 0.01, value: flips.rate, count: flips.answers })
  }
  console.log(tableOf(rows))
}

interface MeasureOptions {
  readonly others: ReadonlySet<string>
  /** Whether rows are asked one by one, each once. Else also in reverse. */
  readonly alone: boolean
  /** To be added to. */
  readonly overall: Tally
  readonly choices: Tally
}

async function measure(
  { ask, maxQuestions }: Subject,
  path: string,
  { others, alone, overall, choices }: MeasureOptions,
): Promise<Measured> {
  const own = new Tally()
  const latency = new LogHistogram(1e-3, 1e7)
  const file = await RowsFile.open(path)
  await runRows(rowsOf(file.pieces(), limits), {
    concurrency: alone ? 1 : 16,
    measure: (row, signal) => measureRow(row, { ask, maxQuestions, others, flips: !alone }, signal),
    onRecord: (record) => {
      if ('refused' in record) throw new Error(`${path}, line ${record.line}: ${record.refused}`)
      latency.add(record.latencyMs)
      for (const outcome of record.outcomes) {
        own.add(outcome)
        if (!alone) overall.add(outcome)
        if (!alone && outcome.type === 'choice') choices.add(outcome)
      }
    },
  })
  await file.close()
  return { figures: own.figures(), medianMs: latency.quantile(0.5) }
}

/** NaN where the set has no such figure. */
function valueOf(figure: Figure, { figures, medianMs }: Measured): number {
  if (figure === 'median ms') return medianMs
  // Whether the probability of the option for everything else tells what fits no other option.
  if (figure === 'auroc') return figures.other?.auc ?? NaN
  return figure === 'accuracy' ? figures.accuracy : (figures.score?.withinHalf ?? NaN)
}

function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ name, about, figure, goal, value, count }) => {
    const atMost = figure === 'at most' || figure === 'median ms'
    const reached = goal === null || (atMost ? value <= goal : value >= goal)
    const digits = figure === 'median ms' ? 1 : 3
    const cells = [name, about, figure, goal === null ? '' : String(goal), value.toFixed(digits)]
    return [...cells, goal === null ? '' : reached ? 'yes' : 'no', String(count)]
  })
  const heads = ['set', 'what', 'figure', 'goal', 'value', 'reached', 'answers']
  return layOut([heads, ...lines]).join('\n')
}
