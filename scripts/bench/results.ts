/**
 * The results of a run so far, saved as they come: an interrupted run loses only its current group
 * of figures.
 *
 * @module
 */

import type { Figure } from './figure.js'
import type { Provenance } from './machine.js'
import { appendCsv, type Recorded, type Report, writeJson } from './report.js'

interface ResultsOptions {
  /** Rewritten with every group. */
  readonly json: string | undefined
  /** Folder of the CSV files, to which every group is appended; undefined saves none. */
  readonly csvDir: string | undefined
}

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
