/**
 * Results for people (a table), for programs (JSON), and for comparison over time (CSV). They are
 * saved as they come: an interrupted run loses only its current group of figures.
 *
 * @module
 */

import { appendFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { layOut } from '../../src/terminal/text-table.js'
import { root } from '../build/paths.js'
import { type Figure, goalText, isReached } from './figure.js'
import type { Provenance } from './machine.js'
import { summarize } from './stats.js'

/** The results of all runs, a CSV file for each kind of machine. */
export const resultsDir = join(root, 'scripts/bench/results')

interface Recorded extends Figure {
  /** File name, type of weights, threads; or that there was no model. */
  readonly model: string
}

export interface Report {
  readonly provenance: Provenance
  readonly figures: readonly Recorded[]
  /** Conditions that a reader must know. */
  readonly notes: readonly string[]
}

interface ResultsOptions {
  /** Rewritten with every group. */
  readonly json: string | undefined
  /** Folder of the CSV files, to which every group is appended; undefined saves none. */
  readonly csvDir: string | undefined
}

/** The results of a run so far. */
export class Results {
  readonly #provenance: Provenance
  readonly #options: ResultsOptions
  readonly #figures: Recorded[] = []
  readonly #notes: string[] = []

  /** @param provenance - Of the whole run, whenever its groups end. */
  constructor(provenance: Provenance, options: ResultsOptions) {
    this.#provenance = provenance
    this.#options = options
  }

  get report(): Report {
    return { provenance: this.#provenance, figures: this.#figures, notes: this.#notes }
  }

  note(line: string): void {
    this.#notes.push(line)
  }

  /** @param model - The measured model, as reports name it. */
  add(figures: readonly Figure[], model: string): void {
    const recorded = figures.map((figure) => ({ ...figure, model }))
    this.#figures.push(...recorded)
    const { json, csvDir } = this.#options
    if (csvDir !== undefined) appendCsv(csvDir, this.#provenance, recorded)
    if (json !== undefined) writeJson(json, this.report)
  }
}

export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => {
    const { median, min, max, mad } = summarize(figure.values)
    const { layer, name, unit, values, disturbed } = figure
    const rounds = disturbed === 0 ? `${values.length}` : `${values.length}, ${disturbed} disturbed`
    const reached = isReached(figure)
    const verdict = reached === undefined ? '' : `${goalText(figure)} ${reached ? 'yes' : 'NO'}`
    return [layer, name, ...[median, min, max, mad].map(short), unit, rounds, verdict]
  })
  const heads = ['layer', 'figure', 'median', 'min', 'max', '±', 'unit', 'rounds', 'must reach']
  const numbers = ['median', 'min', 'max', '±', 'rounds']
  const aligns = heads.map((head) => (numbers.includes(head) ? 'right' : 'left'))
  return layOut([heads, ...rows], { aligns }).join('\n')
}

export function headOf({ provenance: p, figures, notes }: Report): string {
  const models = new Set(figures.map(({ model }) => model))
  return [
    `machine  ${p.cpu}, ${p.cores} cores, ${p.memoryGiB} GiB, Node ${p.node}`,
    `date     ${p.date}`,
    `commit   ${p.commit}, llama.cpp ${p.llamaCommit}`,
    `build    ${p.build}`,
    ...[...models].map((model) => `model    ${model}: ${layersWith(model, figures)}`),
    `command  ${p.command}`,
    ...notes.map((note) => `note     ${note}`),
  ].join('\n')
}

function layersWith(model: string, figures: readonly Recorded[]): string {
  const its = figures.filter((figure) => figure.model === model)
  return [...new Set(its.map(({ layer }) => layer))].join(', ')
}

/** Written atomically, because a run rewrites it many times. */
function writeJson(path: string, report: Report): void {
  const figures = report.figures.map((figure) => ({
    ...figure,
    ...summarize(figure.values),
    reached: isReached(figure),
  }))
  const next = `${path}.next`
  writeFileSync(next, `${JSON.stringify({ ...report, figures }, undefined, 2)}\n`)
  renameSync(next, path)
}

const columns =
  'date,commit,llama,build,model,layer,figure,unit,median,min,max,mad,rounds,disturbed,goal,command'

function appendCsv(dir: string, p: Provenance, figures: readonly Recorded[]): void {
  const path = join(dir, `${p.machine}.csv`)
  mkdirSync(dir, { recursive: true })
  if (!existsSync(path)) writeFileSync(path, `${columns}\n`)
  const lines = figures.map((figure) => {
    const { median, min, max, mad } = summarize(figure.values)
    const { model, layer, name, unit, values, disturbed } = figure
    return [
      ...[p.date, p.commit, p.llamaCommit, p.build, model, layer, name, unit],
      ...[median, min, max, mad].map((value) => Number(value.toPrecision(5))),
      ...[values.length, disturbed, goalText(figure), p.command],
    ]
      .map(csvField)
      .join(',')
  })
  appendFileSync(path, lines.map((line) => `${line}\n`).join(''))
}

function csvField(value: string | number): string {
  const text = String(value)
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Three significant digits, or all digits of a whole number. */
function short(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return value.toPrecision(3)
}
