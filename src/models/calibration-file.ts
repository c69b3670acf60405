/**
 * Finds and writes a model's calibration: a file that was named, or the file beside the model.
 *
 * @module
 */

import { readFile, realpath } from 'node:fs/promises'
import { fileText } from '../api/file-text.js'
import { type CalibrationFile, readCalibration } from '../calibrate/file.js'
import { OiError } from '../errors.js'
import { requireFile } from '../open-input.js'
import type { BoundCalibration } from '../scoring/calibration.js'
import { writeWholeFile } from './whole-file.js'

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
 * @throws {@link OiError} `ERR_CALIBRATION` if it cannot be written.
 */
export async function writeCalibration(path: string, file: CalibrationFile): Promise<void> {
  try {
    await writeWholeFile(path, `${JSON.stringify(file, null, 2)}\n`)
  } catch (cause) {
    const { message } = cause as Error
    throw new OiError('ERR_CALIBRATION', `${path}: ${message}`, { cause })
  }
}
