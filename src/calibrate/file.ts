/**
 * The calibration file: JSON beside the model that it belongs to.
 *
 *     { "format": "oi-calibration@1", "model": "sha256:…", "readout": "letters@1",
 *       "data": "tickets.jsonl", "date": "2026-01-31", "observations": 2000,
 *       "types": {
 *         "noul": { "temperature": 1.8, "bias": -0.4, … },
 *         "choice": { "temperature": 2.1, "buckets": { "3-5": { "temperature": 2.3, … } }, … } },
 *       "heldOut": { … } }
 *
 * What is answered depends on `types` alone. Intervals, numbers and figures are for people.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { type BoundCalibration, buckets, type QuestionType } from '../scoring/calibration.js'
import type { Calibrated, CalibrateOptions, FittedTypes } from './calibrate.js'
import type { Figures } from './figures.js'
import { sourceOf, type Temperatures } from './source.js'

const format = 'oi-calibration@1'

/** What the numbers alone do not tell. */
export interface Provenance {
  /** `sha256:` and 64 hex digits of the weights file. */
  readonly model: string
  /** Name and version of the readout. */
  readonly readout: string
  /** Name of the labelled data. */
  readonly data: string
  /** ISO date. */
  readonly date: string
}

export interface CalibrationFile extends Provenance {
  readonly format: typeof format
  readonly observations: number
  readonly types: FittedTypes
  readonly heldOut: CalibrateOptions & { readonly before: Figures; readonly after: Figures }
}

/** The file's content, without its text's line end. */
export function calibrationFile(
  { model, readout, data, date }: Provenance,
  { observations, types, heldOut: { before, after } }: Calibrated,
  { share, seed }: CalibrateOptions,
): CalibrationFile {
  const heldOut = { share, seed, before, after }
  return { format, model, readout, data, date, observations, types, heldOut }
}

/**
 * Reads the text of a calibration file.
 *
 * @param path - For messages.
 * @throws {@link OiError} `ERR_CALIBRATION` naming the place and what is expected there.
 */
export function readCalibration(path: string, text: string): BoundCalibration {
  const file = new Place(path, '', parse(path, text))
  file.at('format').oneOf([format])
  const types: Record<string, Temperatures[QuestionType]> = {}
  for (const [type, entry] of file.at('types').entries(['noul', 'choice', 'score'])) {
    const ofBuckets = entry.has('buckets') ? entry.at('buckets').entries(buckets) : []
    types[type] = {
      temperature: entry.at('temperature').numberAbove(0),
      ...(entry.has('bias') && { bias: biasAt(type, entry.at('bias')) }),
      buckets: Object.fromEntries(
        ofBuckets.map(([bucket, own]) => [
          bucket,
          { temperature: own.at('temperature').numberAbove(0) },
        ]),
      ),
    }
  }
  return {
    path,
    digest: file.at('model').text(),
    readout: file.at('readout').text(),
    data: file.at('data').text(),
    date: file.at('date').text(),
    observations: file.at('observations').numberAbove(0),
    of: sourceOf(types),
  }
}

function biasAt(type: string, place: Place): number {
  if (type !== 'noul') throw place.failure('no bias, which is for noul only')
  return place.numberAbove(-Infinity)
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const { message } = cause as Error
    throw new OiError('ERR_CALIBRATION', `${path}: not valid JSON: ${message}`, { cause })
  }
}

/** A value and where it stands, for messages. */
class Place {
  readonly #path: string
  readonly #name: string
  readonly #value: unknown

  constructor(path: string, name: string, value: unknown) {
    this.#path = path
    this.#name = name
    this.#value = value
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#object(), name)
  }

  at(name: string): Place {
    const object = this.#object()
    const place = this.#name === '' ? name : `${this.#name}.${name}`
    return new Place(this.#path, place, Object.hasOwn(object, name) ? object[name] : undefined)
  }

  entries(known: readonly string[]): (readonly [string, Place])[] {
    return Object.keys(this.#object()).map((name) => {
      if (known.includes(name)) return [name, this.at(name)]
      throw this.at(name).failure(`one of ${known.join(', ')}`)
    })
  }

  oneOf(values: readonly string[]): void {
    if (!values.includes(this.#value as string)) throw this.failure(values.join(' or '))
  }

  text(): string {
    if (typeof this.#value === 'string' && this.#value !== '') return this.#value
    throw this.failure('a text that is not empty')
  }

  numberAbove(least: number): number {
    const value = this.#value
    if (typeof value === 'number' && value > least && value < Infinity) return value
    throw this.failure(least === 0 ? 'a positive number' : 'a number')
  }

  failure(expected: string): OiError {
    const got = this.#value === undefined ? 'nothing' : JSON.stringify(this.#value).slice(0, 80)
    const place = this.#name === '' ? '' : `${this.#name}: `
    return new OiError('ERR_CALIBRATION', `${this.#path}: ${place}expected ${expected}, got ${got}`)
  }

  #object(): Readonly<Record<string, unknown>> {
    const value = this.#value
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Record<string, unknown>
    }
    throw this.failure('an object')
  }
}
