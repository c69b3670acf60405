/**
 * A settings file: JSON with any of the settings by their names, and `models`.
 *
 * @module
 */

import { existsSync, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileText, parseJsonFile } from '../api/file-text.js'
import { duplicateKeyOf, isJsonObject, type Json } from '../api/json.js'
import { OiError } from '../errors.js'
import { checkValues, requireKnown, type Values } from './check.js'
import {
  type ConfigName,
  type ModelEntry,
  modelEntrySchema,
  type Settings,
  settings,
  settingsSchema,
} from './settings.js'

interface ConfigFile {
  readonly values: Partial<Settings>
  /** The default model first; undefined without `models`. */
  readonly models: readonly ModelEntry[] | undefined
}

// A settings file cannot name another settings file.
const topNames = [...settings.map(({ name }) => name).filter((name) => name !== 'config'), 'models']
const entryNames = Object.keys(modelEntrySchema.properties)
const pathNames: readonly string[] = [
  'file',
  ...settings.filter(({ isPath }) => isPath).map(({ name }) => name),
]

/**
 * Reads and checks a settings file. Relative paths in it are resolved from its folder.
 *
 * @throws {@link OiError} `ERR_CONFIG` naming the file and, in it, the place and what is expected.
 * @example
 * ```json
 * { "port": 9000, "models": [{ "file": "small.gguf", "aliases": ["fast"] }, { "file": "big.gguf" }] }
 * ```
 */
export function readConfigFile(path: string): ConfigFile {
  const { models, ...values } = objectAt(path, '', parse(path, read(path)), topNames)
  checkValues(settingsSchema, values, (name) => `${path}: ${name}`)
  if (models === undefined) return { values: absolutePaths(dirname(path), values), models }

  if (values['model'] !== undefined) throw failure(path, 'expected model or models, got both')
  if (!Array.isArray(models) || models.length === 0) {
    throw failure(path, 'models: expected an array of at least one model')
  }
  return {
    values: absolutePaths(dirname(path), values),
    models: models.map((entry: Json, i) => {
      const place = `models[${i}]`
      const model = objectAt(path, place, entry, entryNames)
      checkValues(modelEntrySchema, model, (name) => `${path}: ${place}.${name}`)
      return absolutePaths(dirname(path), model) as ModelEntry
    }),
  }
}

function read(path: string): string {
  try {
    return fileText(readFileSync(path))
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const reason = message.replace(/^body: /, '')
    throw failure(path, code === 'ENOENT' ? 'there is no such file' : reason, cause)
  }
}

function parse(path: string, text: string): Json {
  try {
    return parseJsonFile(text)
  } catch (cause) {
    throw failure(path, (cause as OiError).message, cause)
  }
}

function objectAt(path: string, place: string, value: Json, known: readonly string[]): Values {
  const prefix = place === '' ? '' : `${place}: `
  if (!isJsonObject(value)) throw failure(path, `${prefix}expected an object`)
  const twice = duplicateKeyOf(value)
  if (twice !== undefined) throw failure(path, `${prefix}${twice} is given twice`)
  for (const name of Object.keys(value)) requireKnown(name, known, `${path}: ${prefix}`)
  return value
}

/** Resolves the relative paths in settings from a folder. */
export function absolutePaths(folder: string, values: Values): Partial<Settings> {
  const entries = Object.entries(values).map(([name, value]) => {
    // An empty path means no file, and these words are no paths.
    const word = { calibration: /^off$/, readout: /^letters@\d+$/ }[name]
    const isWord = value === '' || word?.test(value as string) === true
    const isName = ['model', 'file'].includes(name) && meansPulled(folder, value as string)
    const isPath = pathNames.includes(name) && !isWord && !isName
    return [name, isPath ? resolve(folder, value as string) : value]
  })
  return Object.fromEntries(entries) as Record<ConfigName, never>
}

/**
 * Whether a text is the name of a pulled model: it does not look like a path, and no such file
 * exists.
 */
function meansPulled(folder: string, text: string): boolean {
  return !/[\\/]|\.gguf$/i.test(text) && !existsSync(resolve(folder, text))
}

function failure(path: string, message: string, cause?: unknown): OiError {
  return new OiError('ERR_CONFIG', `${path}: ${message}`, { cause })
}
