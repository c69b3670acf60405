/**
 * Flags, environment and a settings file -> one frozen, validated Config.
 *
 * Every setting is a property of the schema in config/settings.ts, under one name in three
 * spellings: `maxBodyBytes`, `OI_MAX_BODY_BYTES`, `--max-body-bytes`. A flag wins over the
 * environment, which wins over the file, in which a model's own settings win over those for all
 * models; at the end come the defaults. Unknown names of flags and keys are refused with the nearest
 * known one; unknown variables are left to the caller ({@link unknownVariables}), as only a server
 * must not start without a setting that somebody meant. Variables that begin with `OI_TEST_` belong
 * to the test suite and are ignored, as are the few that other modules read.
 *
 * @module
 */

import { join } from 'node:path'
import { checkValues, requireKnown, unknownText, type Values } from './config/check.js'
import { readConfigFile } from './config/file.js'
import type { Origin } from './config/report.js'
import {
  type ConfigName,
  type ModelSettingName,
  modelSettingNames,
  type Setting,
  type Settings,
  settings,
  settingsSchema,
} from './config/settings.js'
import { OiError } from './errors.js'

export { absolutePaths } from './config/file.js'
export { type Origin, reportSettings, type SettingReport } from './config/report.js'
export { type ConfigName, modelSettingNames, type Setting, settings } from './config/settings.js'

/** A model and the settings that hold for it. */
export interface ModelConfig extends Pick<Settings, ModelSettingName> {
  readonly file: string
  /** The name that requests use. Default: the file's name. */
  readonly name?: string | undefined
  readonly aliases?: readonly string[] | undefined
  /** Whether requests that name no model get this one. Default true. */
  readonly default?: boolean
  /** Questions in one request to it; one number for all models. */
  readonly maxQuestions: number
}

/** Every setting, complete, and every model that was named. Units are in the names. */
export interface Config extends Settings {
  /** The default model first; empty if none was named. */
  readonly models: readonly ModelConfig[]
  readonly origins: Readonly<Record<ConfigName, Origin>>
}

const defaults = Object.fromEntries(
  settings.map((setting) => [setting.name, setting.default]),
) as unknown as Settings

const prefix = 'OI_'
const testPrefix = 'OI_TEST_'
/** Variables with the key of `oi ask --url`; the first one that is set wins. */
const keyVariables = ['OI_KEY', 'OI_API_KEY'] as const
/** Read by other modules: the addon's path, its log, and the key. */
const foreign: ReadonlySet<string> = new Set(['OI_ADDON', 'OI_NATIVE_LOG', ...keyVariables])

/**
 * Reads the settings and the settings file that they name.
 *
 * @param environment - As `process.env`; names of no setting are ignored.
 * @param flags - Setting name -> value, from the command line or from code.
 * @throws {@link OiError} `ERR_CONFIG` naming the variable, the flag or the place in the file,
 *   and what it expects.
 * @example
 * ```ts
 * readConfig({ OI_PORT: '9000' }, { host: '0.0.0.0' }).port // 9000
 * ```
 */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
  flags: Readonly<Record<string, string | number | boolean | undefined>> = {},
): Config {
  const byEnvironment = readEnvironment(environment)
  const byFlags = readFlags(flags)
  const outer = { ...byEnvironment, ...byFlags }
  const file = outer.config ? readConfigFile(outer.config) : undefined
  const values: Settings = { ...defaults, ...file?.values, ...outer }
  requireTogether(values, 'tlsCert', 'tlsKey')

  // A model named by flag or variable replaces the file's models.
  const entries = values.model === '' ? (file?.models ?? []) : [{ file: values.model }]
  const models = entries.map((entry, i) => ({
    ...modelConfig(values, entry.file),
    ...entry,
    ...modelSettings(outer),
    default: i === 0,
  }))
  const origins = originsOf({
    default: defaults,
    file: file?.values ?? {},
    environment: byEnvironment,
    flag: byFlags,
  })
  return Object.freeze({ ...values, models, origins })
}

/** @param sources - Lowest precedence first. */
function originsOf(sources: Readonly<Record<Origin, Partial<Settings>>>): Config['origins'] {
  const said = Object.entries(sources).flatMap(([origin, values]) =>
    Object.keys(values).map((name) => [name, origin] as const),
  )
  return Object.fromEntries(said) as Config['origins']
}

/** The folder of pulled models. */
export function modelsDirOf({
  modelsDir,
  dataDir,
}: Pick<Settings, 'modelsDir' | 'dataDir'>): string {
  return modelsDir === '' ? join(dataDir, 'models') : modelsDir
}

/** A model with the settings for all models. */
export function modelConfig(values: Settings, file: string): ModelConfig {
  return { ...(modelSettings(values) as Settings), file, maxQuestions: values.maxQuestions }
}

/**
 * A model that is named while the server runs: the settings for all models, overridden by its own.
 * Files that belong to another model (projector, readout, calibration) do not apply to it.
 *
 * @param own - Setting name -> value, text or not.
 * @throws {@link OiError} `ERR_CONFIG` if a setting is unknown for models, or its value is wrong.
 */
export function laterModel(
  values: Settings,
  file: string,
  own: Readonly<Record<string, string | number | boolean>>,
): ModelConfig {
  for (const name of Object.keys(own)) requireKnown(name, modelSettingNames)
  const calibration = values.calibration === 'off' ? 'off' : ''
  const shared = { ...modelConfig(values, file), mmproj: '', readout: '', calibration }
  return { ...shared, ...modelSettings(readFlags(own)) }
}

function modelSettings(values: Partial<Settings>): Partial<Settings> {
  return Object.fromEntries(
    modelSettingNames.filter((name) => name in values).map((name) => [name, values[name]]),
  )
}

/** @throws {@link OiError} `ERR_CONFIG` if one of two settings is given without the other. */
function requireTogether(values: Settings, one: ConfigName, other: ConfigName): void {
  const flagOf = (wanted: ConfigName) => settings.find(({ name }) => name === wanted)!.flag
  for (const [given, missing] of [[one, other] as const, [other, one] as const]) {
    if (values[given] === '' || values[missing] !== '') continue
    const flag = flagOf(given)
    throw new OiError('ERR_CONFIG', `${flagOf(missing)}: expected a file, as ${flag} needs it`)
  }
}

function readEnvironment(environment: Values): Partial<Settings> {
  return readSource(
    'variable',
    Object.entries(environment).filter(([name, value]) => value !== undefined && isSetting(name)),
  )
}

const isSetting = (variable: string) => settings.some((setting) => setting.variable === variable)

/**
 * A sentence for each variable that begins with `OI_` and that nothing reads, with the nearest known
 * name.
 */
export function unknownVariables(environment: Values): readonly string[] {
  const known = [...settings.map(({ variable }) => variable), ...foreign]
  return Object.keys(environment)
    .filter((name) => name.startsWith(prefix) && !name.startsWith(testPrefix))
    .filter((name) => environment[name] !== undefined && !known.includes(name))
    .map((name) => unknownText(name, known))
}

/** The key for a server; undefined without one. */
export function keyIn(environment: Readonly<Record<string, string | undefined>>) {
  return keyVariables.map((name) => environment[name]).find((key) => key)
}

function readFlags(flags: Values): Partial<Settings> {
  return readSource(
    'name',
    Object.entries(flags).filter(([, value]) => value !== undefined),
  )
}

/** The settings of one source, by name. @param spelling - How the source spells names. */
function readSource(
  spelling: 'name' | 'variable',
  entries: readonly (readonly [string, unknown])[],
): Partial<Settings> {
  const known = settings.map((setting) => setting[spelling])
  const given = entries.map(([name, value]) => {
    requireKnown(name, known)
    const setting = settings[known.indexOf(name)]!
    return { setting, value: convert(setting, value) }
  })
  const values = Object.fromEntries(given.map(({ setting, value }) => [setting.name, value]))
  const shown = spelling === 'variable' ? 'variable' : 'flag'
  checkValues(settingsSchema, values, (name) => settings.find((one) => one.name === name)![shown])
  return values
}

/** Converts the text of a number or a boolean. Other text stays text, and fails the check. */
function convert(setting: Setting, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (setting.isNumeric) return /^-?\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof setting.default === 'string') return value
  if (['1', 'true'].includes(value)) return true
  return ['0', 'false'].includes(value) ? false : value
}

const textBytes = 4 * 2 ** 20
/** 32 MiB of image files, which base64 makes a third longer, and room for the rest. */
const imageBytes = 64 * 2 ** 20

/**
 * The largest request body, bytes. Known before any model is loaded, as settings name the
 * projector.
 */
export function bodyLimit(
  { maxBodyBytes }: Pick<Config, 'maxBodyBytes'>,
  models: readonly Pick<ModelConfig, 'mmproj'>[],
): number {
  if (maxBodyBytes > 0) return maxBodyBytes
  return models.some(({ mmproj }) => mmproj !== '') ? imageBytes : textBytes
}
