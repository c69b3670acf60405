/**
 * `oi calibrate`: fits temperatures for a model to labelled rows, and finds thresholds.
 *
 * @module
 */

import { basename } from 'node:path'
import type { Command } from 'commander'
import {
  calibrate,
  type CalibrateOptions,
  type Calibrated,
} from '../../evaluate/calibrate/calibrate.js'
import { doubtsOf } from '../../evaluate/calibrate/doubts.js'
import { calibrationFile } from '../../evaluate/calibrate/file.js'
import { type Goal, thresholdsOf } from '../../evaluate/calibrate/thresholds.js'
import { type Config, readConfig } from '../../config.js'
import { OiError } from '../../errors.js'
import { RowsFile } from '../../evaluate/rows/rows-file.js'
import { surveyRows } from '../../evaluate/rows/survey.js'
import { calibrationPath, writeCalibration } from '../../models/calibration-file.js'
import { calibrationPage } from '../../evaluate/calibrate/page.js'
import { requireWritable, writePage } from '../output/output-files.js'
import { printCalibration, printDoubts, printThresholds, rowsText } from './calibration-text.js'
import { type Observed, observeModel, observeServer, readSaved } from './observations.js'
import type { Dependencies } from '../../server/dependencies.js'
import { print, printError } from '../../terminal/print.js'
import { addSettings } from '../input/setting-options.js'
import { addTableFlags, rowLimits, rowReader, type TableFlags } from '../input/table-flags.js'

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
  readonly url?: string
  readonly key?: string
  readonly out?: string
  readonly html?: string
  readonly heldOut: string
  readonly seed: string
  readonly decide?: string
  readonly confidence: string
  readonly force?: boolean
  readonly json?: boolean
} & TableFlags &
  Partial<Record<(typeof modelSettings)[number], string>>

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
    .option('--url <address>', 'ask a running server; --model then says of which file')
    .option('--key <key>', 'key for --url (OI_KEY)')
    .option('--html <file>', 'also write a page with the curves before and after')
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
  if (rows === undefined && flags.url !== undefined) {
    throw new OiError('ERR_CONFIG', '--url asks labelled rows: leave out --observations')
  }
  const isOthers = rows === undefined || flags.url !== undefined
  if (isOthers && config.models.length === 0 && flags.out !== undefined) {
    throw new OiError(
      'ERR_CONFIG',
      '--out needs --model <file>: a calibration belongs to one model',
    )
  }
  if (flags.html !== undefined) requireWritable('--html', flags.html)
  const reader = rows === undefined ? undefined : (await rowReader(flags)).reader
  const file = await RowsFile.open(data, reader)
  const { observations, identity } = await (
    rows === undefined
      ? readSaved(file, config)
      : ask(file, config, { flags, share: options.share, goal }, dependencies)
  ).finally(() => file.close())
  const calibrated = calibrate(observations, options)
  const doubts = doubtsOf(calibrated)
  const path = identity && (flags.out ?? (await calibrationPath(identity.file)))
  const isRefused = path !== undefined && doubts.length > 0 && !flags.force
  const shown: Shown = {
    ...{ calibrated, options, goal, doubts, json: flags.json },
    ...{ path: isRefused ? undefined : path, data: basename(file.name), html: flags.html },
  }
  if (isRefused) {
    await show(shown)
    const list = doubts.map((doubt) => `\n- ${doubt}`).join('')
    throw new OiError(
      'ERR_CALIBRATION',
      `${path} was not written, as the calibration should not be used (--force writes it):${list}`,
    )
  }
  if (path !== undefined) {
    const { model, readout, onTopOf } = identity!
    const date = new Date().toISOString().slice(0, 10)
    const provenance = { model, readout, onTopOf, data: shown.data, date }
    await writeCalibration(path, calibrationFile(provenance, calibrated, options))
  }
  await show(shown)
  if (flags.json) return
  printDoubts(doubts)
  process.stdout.write(
    path === undefined
      ? 'Nothing was written: name the model with --model <file>.\n'
      : `Written to ${path}\n`,
  )
}

interface Asked {
  readonly flags: CalibrateFlags
  readonly share: number
  readonly goal: Goal | undefined
}

async function ask(
  file: RowsFile,
  config: Config,
  { flags, share, goal }: Asked,
  dependencies: Dependencies,
): Promise<Observed> {
  const limits =
    flags.url === undefined ? { ...rowLimits, maxQuestions: config.maxQuestions } : rowLimits
  // A bad row shows before a model is loaded, or asked for hours.
  const { rows } = await surveyRows(file, limits)
  if (goal !== undefined) printError(rowsText(goal, share, rows))
  const surveyed = { file, limits, rows }
  if (flags.url === undefined) return observeModel(surveyed, config, dependencies)
  const { model: _model, mmproj: _mmproj, readout: _readout, ...asked } = flags
  return observeServer(surveyed, config, asked, dependencies)
}

interface Shown {
  readonly calibrated: Calibrated
  readonly options: CalibrateOptions
  readonly goal: Goal | undefined
  readonly doubts: readonly string[]
  /** The written file. */
  readonly path: string | undefined
  readonly json: boolean | undefined
  /** The file of the rows, and that of the page. */
  readonly data: string
  readonly html: string | undefined
}

async function show(shown: Shown): Promise<void> {
  const { calibrated, options, goal, doubts, path, json, data, html } = shown
  if (html !== undefined) {
    await writePage(html, calibrationPage({ calibrated, options, doubts, data }))
  }
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
