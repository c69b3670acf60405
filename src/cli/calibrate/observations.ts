/**
 * What a calibration is fitted to: answers of a model that is loaded for it, of a server, or saved
 * ones; and whose they are.
 *
 * @module
 */

import type { RequestLimits } from '../../api/counts.js'
import { askRows } from '../../evaluate/calibrate/ask-rows.js'
import type { Provenance } from '../../evaluate/calibrate/file.js'
import { onSaved } from '../../evaluate/calibrate/on-top.js'
import { readObservations } from '../../evaluate/calibrate/read-observations.js'
import type { RowObservation } from '../../evaluate/calibrate/sample.js'
import type { Config, ModelConfig } from '../../config.js'
import { OiError } from '../../errors.js'
import type { ReportModel } from '../../evaluate/report.js'
import type { RowsFile } from '../../evaluate/rows/rows-file.js'
import { fileFacts } from '../../models/file-facts.js'
import { inspectModel } from '../../models/inspect.js'
import { chosenReadout } from '../../models/readout-file.js'
import { openMetadata } from '../../opening/open-model.js'
import { modelToOpen } from '../../opening/models-to-open.js'
import { ownCalibration } from '../../scoring/calibration.js'
import type { Temperature } from '../../scoring/types.js'
import type { Dependencies } from '../../server/dependencies.js'
import { printError } from '../../terminal/print.js'
import { loadModel, withOpened } from '../load-model.js'
import { type SubjectFlags, subjectOf } from '../open-subject.js'

/** The model of the observations. */
export type Identity = Pick<Provenance, 'model' | 'readout' | 'onTopOf'> & { readonly file: string }

export interface Observed {
  readonly observations: readonly RowObservation[]
  /** Undefined if no file of the model was named. */
  readonly identity: Identity | undefined
}

interface SurveyedFile {
  readonly file: RowsFile
  readonly limits: RequestLimits
  /** The number of rows, for the progress. */
  readonly rows: number
}

export async function observeModel(
  { file, limits, rows }: SurveyedFile,
  config: Config,
  dependencies: Dependencies,
): Promise<Observed> {
  const model = modelToOpen(config)
  return withOpened(loadModel(model, dependencies), async ({ decider, temperatures = [] }) => {
    const observations = await askRows(
      file.rows(limits),
      (request, signal) => decider.decide(request, { evidence: true, signal }),
      { own: ownCalibration(temperatures), onRow: progressTo(rows) },
    )
    const [card] = decider.models
    const about = { file: model.file, model: card!.digest, readout: card!.readout }
    return { observations, identity: { ...about, onTopOf: given(temperatures) } }
  })
}

/**
 * Of a server, whatever calibration it has: raw logits are fitted.
 *
 * @throws {@link OiError} `ERR_CONFIG` if a file of a model is named, and no model there has its
 *   weights and readout.
 */
export async function observeServer(
  { file, limits, rows }: SurveyedFile,
  { models: [model] }: Config,
  flags: SubjectFlags,
  dependencies: Dependencies,
): Promise<Observed> {
  const { subject } = await subjectOf(flags, dependencies, true)()
  const identity = model && (await identify(model))
  const isIt = ({ digest, readout }: ReportModel) =>
    digest === identity?.model && readout === identity?.readout
  if (identity && !subject.models.some(isIt)) {
    const message = `--model ${identity.file}: ${flags.url} serves no model of its weights and readout`
    throw new OiError('ERR_CONFIG', message)
  }
  const observations = await askRows(
    file.rows(limits),
    (request, signal) => subject.ask(request, signal),
    { onRow: progressTo(rows) },
  )
  return { observations: onTop(observations, identity), identity }
}

/** A calibration file needs the model of the observations. */
export async function readSaved(file: RowsFile, { models: [model] }: Config): Promise<Observed> {
  const observations = await readObservations(file.pieces())
  const identity = model && (await identify(model))
  return { observations: onTop(observations, identity), identity }
}

function onTop(observations: readonly RowObservation[], identity: Identity | undefined) {
  const own = ownCalibration(identity?.onTopOf ?? [])
  return observations.map((one) => onSaved(one, own))
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

const progressTo = (rows: number) => (count: number) => {
  if (count % 1000 === 0 || count === rows) printError(`${count} of ${rows} rows answered\n`)
}
