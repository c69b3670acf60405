/**
 * `oi calibrate`: fits temperatures for a model to labelled rows, and finds thresholds.
 *
 * @module
 */

import { basename } from 'node:path'
import type { Command } from 'commander'
import { mostOptions } from '../../api/limits.js'
import { askRows } from '../../calibrate/ask-rows.js'
import { calibrate, type CalibrateOptions, type Calibrated } from '../../calibrate/calibrate.js'
import { doubtsOf } from '../../calibrate/doubts.js'
import { calibrationFile, type Provenance } from '../../calibrate/file.js'
import { readObservations } from '../../calibrate/read-observations.js'
import { onSaved } from '../../calibrate/on-top.js'
import type { RowObservation } from '../../calibrate/sample.js'
import { type Goal, thresholdsOf } from '../../calibrate/thresholds.js'
import { type Config, type ModelConfig, readConfig } from '../../config.js'
import { OiError } from '../../errors.js'
import { RowsFile } from '../../evaluate/rows-file.js'
import { surveyRows } from '../../evaluate/survey.js'
import { calibrationPath, writeCalibration } from '../../models/calibration-file.js'
import { fileFacts } from '../../models/file-facts.js'
import { inspectModel } from '../../models/inspect.js'
import { chosenReadout } from '../../models/readout-file.js'
import { ownCalibration } from '../../scoring/calibration.js'
import type { Temperature } from '../../scoring/types.js'
import { printCalibration, printDoubts, printThresholds } from './calibration-text.js'
import type { Dependencies } from '../../server/dependencies.js'
import { loadModel } from '../load-model.js'
import { openMetadata } from '../../opening/open-model.js'
import { modelToOpen } from '../../opening/models-to-open.js'
import { print, printError } from '../../terminal/print.js'
import { addSettings } from '../input/setting-options.js'
import { addTableFlags, rowReader, type TableFlags } from '../input/table-flags.js'

/** The settings of other commands, without the calibration, which this command makes. */
const modelSettings = [
  'model',
  'mmproj',
  'readout',
  'contextTokens',
  'threads',
  'device',
  'gpuLayers',
  'orders',
] as const

type CalibrateFlags = {
  readonly observations?: string
  readonly out?: string
  readonly heldOut: string
  readonly seed: string
  readonly decide?: string
  readonly confidence: string
  readonly force?: boolean
  readonly json?: boolean
} & TableFlags &
  Partial<Record<(typeof modelSettings)[number], string>>

/** The model of the observations. */
type Identity = Pick<Provenance, 'model' | 'readout' | 'onTopOf'> & { readonly file: string }

const help = `
A row is a request body with the right answers beside it, one JSON object a line:

  {"state": "I was charged twice.", "questions": {"money": {"type": "noul", "instructions":
   "Is this about a payment?"}}, "expected": {"money": true}}

The right answer of a choice is an option's name, that of a score a level counted from 0. The file
is written beside the model, where oi serve and oi ask find it.`

export function addCalibrateCommand(program: Command, dependencies: Dependencies): void {
  const command = program
    .command('calibrate')
    .description('fit temperatures to labelled rows, so that probabilities match reality')
    .argument(
      '[rows]',
      'labelled rows: JSONL, a JSON array or a table, also .gz; - reads standard input',
    )
    .option('--observations <file>', 'fit to saved observations (JSONL) instead of asking')
    .option('--out <file>', 'write the calibration there; default: <model>.calibration.json')
    .option('--held-out <share>', 'share of rows held out to judge the fit', '0.3')
    .option('--seed <n>', 'seed of the split into fitted and held-out rows', '1')
    .option(
      '--decide <rate>',
      'show the probability above which at most this share of answers is wrong',
    )
    .option('--confidence <share>', 'confidence that it holds', '0.95')
    .option('--force', 'write the calibration in spite of doubts')
    .option('--json', 'JSON for programs')
    .addHelpText('after', help)
  addSettings(addTableFlags(command), modelSettings).action(
    async (rows: string | undefined, flags: CalibrateFlags) =>
      runCalibrate(rows, flags, dependencies),
  )
}

async function runCalibrate(
  rows: string | undefined,
  flags: CalibrateFlags,
  dependencies: Dependencies,
): Promise<void> {
  const options = {
    share: readShare('--held-out', flags.heldOut),
    seed: readSeed(flags.seed),
  }
  const confidence = readShare('--confidence', flags.confidence)
  const goal =
    flags.decide === undefined
      ? undefined
      : { rate: readShare('--decide', flags.decide), confidence }
  const chosen = Object.fromEntries(modelSettings.map((name) => [name, flags[name]]))
  const config = readConfig(dependencies.environment, {
    ...chosen,
    // The model itself is measured, without a calibration; requests may wait long.
    calibration: 'off',
    maxBacklogMs: 3_600_000,
  })
  const data = rows ?? flags.observations
  if (data === undefined || (rows !== undefined && flags.observations !== undefined)) {
    throw new OiError('ERR_CONFIG', 'Expected a file of labelled rows, or --observations <file>')
  }
  const reader = rows === undefined ? undefined : (await rowReader(flags)).reader
  const file = await RowsFile.open(data, reader)
  const { observations, identity } = await (
    rows === undefined ? readSaved(file, config, flags.out) : ask(file, config, dependencies)
  ).finally(() => file.close())
  const calibrated = calibrate(observations, options)
  const doubts = doubtsOf(calibrated)
  const path = identity && (flags.out ?? (await calibrationPath(identity.file)))
  if (path !== undefined && doubts.length > 0 && !flags.force) {
    show({ calibrated, options, goal, doubts, path: undefined, json: flags.json })
    const list = doubts.map((doubt) => `\n- ${doubt}`).join('')
    throw new OiError(
      'ERR_CALIBRATION',
      `${path} was not written, as the calibration should not be used (--force writes it):${list}`,
    )
  }
  if (path !== undefined) {
    const { model, readout, onTopOf } = identity!
    const date = new Date().toISOString().slice(0, 10)
    const provenance = { model, readout, onTopOf, data: basename(file.name), date }
    await writeCalibration(path, calibrationFile(provenance, calibrated, options))
  }
  show({ calibrated, options, goal, doubts, path, json: flags.json })
  if (flags.json) return
  printDoubts(doubts)
  process.stdout.write(
    path === undefined
      ? 'Nothing was written: name the model with --model <file>.\n'
      : `Written to ${path}\n`,
  )
}

async function ask(
  file: RowsFile,
  config: Config,
  dependencies: Dependencies,
): Promise<{ observations: RowObservation[]; identity: Identity }> {
  const model = modelToOpen(config)
  const limits = {
    maxQuestions: config.maxQuestions,
    maxOptions: mostOptions,
    maxLevels: mostOptions,
  }
  // A bad row shows before a model is loaded, or asked for hours.
  const { rows } = await surveyRows(file, limits)
  const opened = await loadModel(model, dependencies)
  try {
    if (opened.warning !== undefined) printError(`${opened.warning}\n`)
    const { decider, temperatures = [] } = opened
    const observations = await askRows(
      file.rows(limits),
      (request, options) => decider.decide(request, options),
      {
        own: ownCalibration(temperatures),
        onRow: (count) => {
          if (count % 1000 !== 0 && count !== rows) return
          printError(`${count} of ${rows} rows answered\n`)
        },
      },
    )
    const [card] = decider.models
    return {
      observations,
      identity: {
        ...{ file: model.file, model: card!.digest, readout: card!.readout },
        onTopOf: given(temperatures),
      },
    }
  } finally {
    await opened.close()
  }
}

/** A calibration file needs the model of the observations. */
async function readSaved(
  file: RowsFile,
  { models: [model] }: Config,
  out: string | undefined,
): Promise<{ observations: RowObservation[]; identity: Identity | undefined }> {
  if (model === undefined && out !== undefined) {
    throw new OiError(
      'ERR_CONFIG',
      '--out needs --model <file>: a calibration belongs to one model',
    )
  }
  const observations = await readObservations(file.pieces())
  const identity = model && (await identify(model))
  const own = ownCalibration(identity?.onTopOf ?? [])
  return { observations: observations.map((one) => onSaved(one, own)), identity }
}

async function identify(model: ModelConfig): Promise<Identity> {
  const { file } = model
  const { digest } = await fileFacts(file)
  const engine = await openMetadata(model)
  try {
    const custom = model.readout === '' ? undefined : await chosenReadout(model.readout)
    const { readout, inspection } = await inspectModel(file, engine, custom)
    if (!readout) throw new OiError('ERR_READOUT', `${file}: ${inspection.refusal}`)
    return { file, model: digest, readout: readout.name, onTopOf: given(readout.temperatures) }
  } finally {
    await engine.close()
  }
}

/** Undefined if the model has none. */
const given = (temperatures: readonly Temperature[] = []) =>
  temperatures.length === 0 ? undefined : temperatures

interface Shown {
  readonly calibrated: Calibrated
  readonly options: CalibrateOptions
  readonly goal: Goal | undefined
  readonly doubts: readonly string[]
  /** The written file. */
  readonly path: string | undefined
  readonly json: boolean | undefined
}

function show({ calibrated, options, goal, doubts, path, json }: Shown): void {
  const { answered, ...numbers } = calibrated
  const questions = goal && thresholdsOf(answered.fitted, answered.heldOut, goal)
  if (json) {
    const thresholds = goal && { ...goal, questions }
    const shown = { path, ...options, ...numbers, doubts, thresholds }
    print(`${JSON.stringify(shown, null, 2)}\n`)
    return
  }
  printCalibration(calibrated, options)
  if (goal && questions) printThresholds(questions, goal)
}

/** @throws {@link OiError} `ERR_CONFIG` naming the flag. */
function readShare(flag: string, text: string): number {
  const share = text.trim() === '' ? NaN : Number(text)
  if (share > 0 && share < 1) return share
  throw new OiError('ERR_CONFIG', `${flag}: expected a number above 0 and below 1, got ${text}`)
}

function readSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new OiError('ERR_CONFIG', `--seed: expected an integer from 0 to 999999999, got ${text}`)
}
