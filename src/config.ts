/**
 * Environment and flags -> one frozen, validated Config.
 *
 * Every setting is a property of the schema below, under one name in three spellings:
 * `maxBodyBytes`, `OI_MAX_BODY_BYTES`, `--max-body-bytes`. A flag wins over the environment,
 * which wins over the default. Unknown names are refused with the nearest known one; names that
 * begin with `OI_TEST_` belong to the test suite and are ignored, as are a few that others read.
 *
 * @module
 */

import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { OiError } from './errors.js'

const integer = (minimum: number, maximum: number, standard: number, description: string) =>
  Type.Integer({
    minimum,
    maximum,
    default: standard,
    description,
    expected: `an integer from ${minimum} to ${maximum}`,
  })

const text = (minLength: number, standard: string, description: string) =>
  Type.String({ minLength, default: standard, description, expected: 'a text that is not empty' })

const schema = Type.Object(
  {
    model: text(0, '', 'GGUF file of the model to serve'),
    host: text(1, '127.0.0.1', 'address to listen on'),
    port: integer(0, 65_535, 8080, 'port to listen on; 0 takes a free one'),
    dataDir: text(1, 'data', 'folder of workspaces and keys'),
    contextTokens: integer(
      0,
      1_048_576,
      0,
      'longest state and question together, tokens; 0 chooses',
    ),
    threads: integer(0, 1024, 0, 'threads of the model; 0 takes as many as there are cores'),
    gpuLayers: integer(-1, 10_000, -1, 'layers on the GPU; -1 puts all there that fit'),
    maxQueued: integer(1, 1_000_000, 256, 'requests that may wait for the model'),
    maxQuestions: integer(1, 65_536, 256, 'questions in one request'),
    maxBodyBytes: integer(1024, 1_073_741_824, 4_194_304, 'size of a request body, bytes'),
    deadlineMs: integer(1, 3_600_000, 60_000, 'time for one request, milliseconds'),
    graceMs: integer(0, 3_600_000, 10_000, 'time for running requests at shutdown, milliseconds'),
    log: Type.Union([Type.Literal('off'), Type.Literal('requests')], {
      default: 'off',
      description: 'requests: one JSON line per request on stderr',
      expected: '"off" or "requests"',
    }),
  },
  { additionalProperties: false },
)

/** Every setting, complete. Units are in the names. */
export type Config = Readonly<Type.Static<typeof schema>>
export type ConfigName = keyof Config

/** A setting as help texts and messages show it. */
export interface Setting {
  readonly name: ConfigName
  /** As `--max-body-bytes`. */
  readonly flag: string
  /** As `OI_MAX_BODY_BYTES`. */
  readonly variable: string
  readonly description: string
  readonly default: string | number
  /** What a value must be, for messages. */
  readonly expected: string
}

const validator = Compile(schema)

// TypeBox keeps the annotations at run time only.
const annotations = schema.properties as unknown as Record<
  ConfigName,
  Pick<Setting, 'description' | 'default' | 'expected'>
>

/** All settings, in the schema's order. */
export const settings: readonly Setting[] = Object.entries(annotations).map(
  ([name, { description, default: standard, expected }]) => {
    const words = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return {
      name: name as ConfigName,
      flag: `--${words}`,
      variable: `OI_${words.replaceAll('-', '_').toUpperCase()}`,
      description,
      default: standard,
      expected,
    }
  },
)

const prefix = 'OI_'
const testPrefix = 'OI_TEST_'
/** Read elsewhere: where the addon is, its log, and the key that examples use. */
const foreign = new Set(['OI_ADDON', 'OI_NATIVE_LOG', 'OI_KEY'])

/**
 * Reads the settings.
 *
 * @param environment - As `process.env`; only names that begin with `OI_` are looked at.
 * @param flags - Setting name -> value, from the command line or from code.
 * @throws {@link OiError} `ERR_CONFIG` naming the variable or flag and what it expects.
 * @example
 * ```ts
 * readConfig({ OI_PORT: '9000' }, { host: '0.0.0.0' }).port // 9000
 * ```
 */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
  flags: Readonly<Record<string, string | number | undefined>> = {},
): Config {
  const values: Record<string, unknown> = {}
  const sources = new Map<string, string>()
  for (const setting of settings) values[setting.name] = setting.default

  for (const [variable, value] of Object.entries(environment)) {
    if (value === undefined || !variable.startsWith(prefix)) continue
    if (variable.startsWith(testPrefix) || foreign.has(variable)) continue
    const setting = find('variable', variable)
    values[setting.name] = convert(setting, value)
    sources.set(setting.name, variable)
  }
  for (const [name, value] of Object.entries(flags)) {
    if (value === undefined) continue
    const setting = find('name', name)
    values[name] = convert(setting, value)
    sources.set(name, setting.flag)
  }

  if (!validator.Check(values)) {
    const [error] = validator.Errors(values)
    const { name, expected } = find('name', error!.instancePath.slice(1))
    const value = JSON.stringify(values[name])
    throw new OiError('ERR_CONFIG', `${sources.get(name)}: expected ${expected}, got ${value}`)
  }
  return Object.freeze(values)
}

/** Text of a number setting to its number. What is no decimal integer stays text and fails. */
function convert(setting: Setting, value: string | number): string | number {
  if (typeof setting.default === 'number' && typeof value === 'string') {
    return /^-?\d{1,15}$/.test(value) ? Number(value) : value
  }
  return value
}

function find(spelling: 'name' | 'variable', name: string): Setting {
  const found = settings.find((setting) => setting[spelling] === name)
  if (found !== undefined) return found
  const known = settings.map((setting) => setting[spelling])
  const [nearest] = known.toSorted((a, b) => distance(name, a) - distance(name, b))
  throw new OiError('ERR_CONFIG', `Unknown setting ${name}: did you mean ${nearest}?`)
}

/** Edits (insert, delete, replace) that turn a into b; one row of the table at a time. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[b.length]!
}
