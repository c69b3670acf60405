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
 * A file for a model with temperatures of its own has them in `onTopOf`: it holds on top of these,
 * and of no others.
 *
 * Answers depend on `types` alone. Intervals, counts and figures are for people.
 *
 * It is found where it is named, or beside the model.
 *
 * @module
 */

import { readFile, realpath } from 'node:fs/promises'
import Type from 'typebox'
import { fileText } from '../api/file-text.js'
import { type Fault, faultOf, wordsOf } from '../api/schema-fault.js'
import { OiError } from '../errors.js'
import { requireFile } from '../open-input.js'
import { type BoundCalibration, type Bucket, buckets } from '../scoring/calibration.js'
import { sourceOf } from '../scoring/calibration-source.js'
import { writeWholeFile } from './whole-file.js'

const format = 'oi-calibration@1'

const text = Type.String({ minLength: 1 })
const positive = Type.Number({ exclusiveMinimum: 0, expected: 'a positive number' })
const closed = { additionalProperties: false }

const withTemperature = Type.Object({ temperature: positive })
const ofBuckets = Object.fromEntries(
  buckets.map((bucket) => [bucket, Type.Optional(withTemperature)]),
) as Record<Bucket, Type.TOptional<typeof withTemperature>>
const common = { temperature: positive, buckets: Type.Optional(Type.Object(ofBuckets, closed)) }
const noBias = Type.Never({ expected: 'no bias, which is for noul only' })
const unbiased = Type.Object({ ...common, bias: Type.Optional(noBias) })

const ownTemperature = Type.Object({
  type: Type.Union(
    (['noul', 'choice', 'score'] as const).map((type) => Type.Literal(type)),
    { expected: 'noul, choice or score' },
  ),
  from: positive,
  to: Type.Union([positive, Type.Null()], { expected: 'a positive number or null' }),
  temperature: positive,
  bias: Type.Optional(Type.Number()),
})

const head = Type.Object({ format: Type.Literal(format, { expected: format }) })
const schema = Type.Object({
  ...head.properties,
  ...{ model: text, readout: text, data: text, date: text, observations: positive },
  onTopOf: Type.Optional(Type.Array(ownTemperature)),
  types: Type.Object(
    {
      noul: Type.Optional(Type.Object({ ...common, bias: Type.Optional(Type.Number()) })),
      choice: Type.Optional(unbiased),
      score: Type.Optional(unbiased),
    },
    closed,
  ),
})

/**
 * The path of the calibration beside a model, whether it exists or not. For a link it is beside the
 * link's target, so that a link to another model does not take the calibration along.
 */
export async function calibrationPath(model: string): Promise<string> {
  // If the model cannot be read, opening it says so.
  const file = await realpath(model).catch(() => model)
  return `${file}.calibration.json`
}

/**
 * @param setting - A path; `off` for none; empty for the file beside the model, if there is one.
 * @throws {@link OiError} `ERR_CALIBRATION` if it cannot be read or is damaged.
 */
export async function findCalibration(
  model: string,
  setting = '',
): Promise<BoundCalibration | undefined> {
  if (setting === 'off') return undefined
  const path = setting === '' ? await calibrationPath(model) : setting
  await requireFile(path, 'ERR_CALIBRATION')
  try {
    return readCalibration(path, fileText(await readFile(path)))
  } catch (cause) {
    if (cause instanceof OiError && cause.code === 'ERR_CALIBRATION') throw cause
    const { code, message } = cause as NodeJS.ErrnoException
    const missing = code === 'ENOENT'
    if (missing && setting === '') return undefined
    const reason = missing ? 'there is no such file' : message.replace(/^body: /, '')
    throw new OiError('ERR_CALIBRATION', `${path}: ${reason}`, { cause })
  }
}

/**
 * Writes a file whole or not at all: a server that starts meanwhile reads the old file.
 *
 * @param content - All but the format.
 * @throws {@link OiError} `ERR_CALIBRATION` if it cannot be written.
 */
export async function writeCalibration(path: string, content: object): Promise<void> {
  try {
    await writeWholeFile(path, `${JSON.stringify({ format, ...content }, null, 2)}\n`)
  } catch (cause) {
    const { message } = cause as Error
    throw new OiError('ERR_CALIBRATION', `${path}: ${message}`, { cause })
  }
}

/**
 * Reads the text of a calibration file.
 *
 * @param path - For messages.
 * @throws {@link OiError} `ERR_CALIBRATION` naming the place and what is expected there.
 */
export function readCalibration(path: string, text: string): BoundCalibration {
  const file = parse(path, text)
  // The format first: a file of another format may differ everywhere else.
  const fault = faultOf(head, file) ?? faultOf(schema, file)
  if (fault !== undefined) throw new OiError('ERR_CALIBRATION', `${path}: ${messageOf(fault)}`)
  const { model, onTopOf, types, ...about } = file as Type.Static<typeof schema>
  return {
    ...{ path, digest: model, of: sourceOf(types) },
    ...{ readout: about.readout, data: about.data, date: about.date },
    observations: about.observations,
    // JSON has no Infinity.
    onTopOf: onTopOf?.map((row) => ({ ...row, to: row.to ?? Infinity })),
  }
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const { message } = cause as Error
    throw new OiError('ERR_CALIBRATION', `${path}: not valid JSON: ${message}`, { cause })
  }
}

function messageOf({ steps, schema, isUnknown, got }: Fault): string {
  const place = steps.length === 0 ? '' : `${steps.join('.')}: `
  const known = Object.keys(schema.properties ?? {}).join(', ')
  const expected = isUnknown ? `one of ${known}` : wordsOf(schema)
  const shown = got === undefined ? 'nothing' : JSON.stringify(got).slice(0, 80)
  return `${place}expected ${expected}, got ${shown}`
}
