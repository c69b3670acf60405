/**
 * Results for people (a table), for programs (JSON), and for comparison over time (CSV).
 *
 * @module
 */

import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Table from 'cli-table3'
import { root } from '../build/paths.js'
import { type Figure, goalText, isReached } from './figure.js'
import type { Provenance } from './machine.js'
import { summarize } from './stats.js'

export interface Report {
  readonly provenance: Provenance
  /** File name, type of its weights, threads; or that there was none. */
  readonly model: string
  readonly figures: readonly Figure[]
  /** Conditions that a reader must know. */
  readonly notes: readonly string[]
}

export function tableOf(figures: readonly Figure[]): string {
  const table = new Table({
    head: ['layer', 'figure', 'median', 'min', 'max', '±', 'unit', 'rounds', 'must reach'],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
    colAligns: ['left', 'left', 'right', 'right', 'right', 'right', 'left', 'right', 'left'],
  })
  for (const figure of figures) {
    const { median, min, max, mad } = summarize(figure.values)
    const { layer, name, unit, values, disturbed } = figure
    const rounds = disturbed === 0 ? `${values.length}` : `${values.length}, ${disturbed} disturbed`
    const reached = isReached(figure)
    const verdict = reached === undefined ? '' : `${goalText(figure)} ${reached ? 'yes' : 'NO'}`
    table.push([layer, name, ...[median, min, max, mad].map(short), unit, rounds, verdict])
  }
  return table.toString()
}

export function headOf({ provenance: p, model, notes }: Omit<Report, 'figures'>): string {
  return [
    `machine  ${p.cpu}, ${p.cores} cores, ${p.memoryGiB} GiB, Node ${p.node}`,
    `date     ${p.date}`,
    `commit   ${p.commit}, llama.cpp ${p.llamaCommit}`,
    `build    ${p.build}`,
    `model    ${model}`,
    `command  ${p.command}`,
    ...notes.map((note) => `note     ${note}`),
  ].join('\n')
}

export function writeJson(path: string, report: Report): void {
  const figures = report.figures.map((figure) => ({
    ...figure,
    ...summarize(figure.values),
    reached: isReached(figure),
  }))
  writeFileSync(path, `${JSON.stringify({ ...report, figures }, undefined, 2)}\n`)
}

const columns =
  'date,commit,llama,build,model,layer,figure,unit,median,min,max,mad,rounds,disturbed,goal,command'

/** @returns The file's path inside the project. */
export function appendCsv({ provenance: p, model, figures }: Report): string {
  const file = `scripts/bench/results/${p.machine}.csv`
  const path = join(root, file)
  mkdirSync(join(path, '..'), { recursive: true })
  if (!existsSync(path)) writeFileSync(path, `${columns}\n`)
  const lines = figures.map((figure) => {
    const { median, min, max, mad } = summarize(figure.values)
    const { layer, name, unit, values, disturbed } = figure
    return [
      ...[p.date, p.commit, p.llamaCommit, p.build, model, layer, name, unit],
      ...[median, min, max, mad].map((value) => Number(value.toPrecision(5))),
      ...[values.length, disturbed, goalText(figure), p.command],
    ]
      .map(csvField)
      .join(',')
  })
  appendFileSync(path, lines.map((line) => `${line}\n`).join(''))
  return file
}

function csvField(value: string | number): string {
  const text = String(value)
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Three digits that count, or all of a whole number. */
function short(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toPrecision(3)
}
