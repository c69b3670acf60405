/**
 * `oi models`: inspect; the others are in files of their own.
 *
 * @module
 */

import type { Command } from 'commander'
import { readRequest } from '../api/read-request.js'
import { type ModelConfig, readConfig } from '../config.js'
import { maxQuestions } from '../decide/model-card.js'
import { findImages } from '../images/find-images.js'
import { readImages } from '../images/read-images.js'
import { inspectModel } from '../models/inspect.js'
import { chosenReadout } from '../models/readout-file.js'
import type { Readout } from '../prompt/readout.js'
import { type Dependencies, exitCodes } from './dependencies.js'
import { inspectionText } from './inspection-text.js'
import { openMetadata, probeModel } from './open-model.js'
import { readTextFile } from './read-text.js'
import { addPriceCommand } from './price-command.js'
import { promptText, showPrompt, type ShownPrompt } from './rendering-text.js'
import { modelToOpen } from './models-to-open.js'
import { print } from './output/print.js'
import { addPulledModelsCommands } from './pulled-models-command.js'
import { addRunningModelsCommands } from './running-models-command.js'
import { addSettings } from './setting-options.js'

interface InspectFlags {
  readonly contextTokens?: string
  readonly readout?: string
  readonly modelsDir?: string
  readonly render?: string
  readonly json?: boolean
}

export function addModelsCommand(
  program: Command,
  dependencies: Dependencies,
  done: (code: number) => void,
): void {
  const models = program
    .command('models')
    .description('model files, those of a running server, and what their tokens cost')
  const inspect = models
    .command('inspect')
    .description('show what a model file is and how it is asked')
    .argument(
      '[model]',
      'a GGUF file, or the name of a pulled model; without it, the model that oi serve would take',
    )
    .option('--render <file>', 'show the exact prompt of a request body')
    .option('--json', 'for machines; sizes are bytes')
    .addHelpText(
      'after',
      '\nThe first time, it is loaded once, in a process of its own. Exit code 1: it cannot be served.',
    )
  addSettings(inspect, ['contextTokens', 'readout', 'modelsDir']).action(
    async (model: string | undefined, flags: InspectFlags) => {
      const { contextTokens, readout, modelsDir } = flags
      const chosen = { model, contextTokens, readout, modelsDir }
      const config = readConfig(dependencies.environment, chosen)
      done(await inspectFile(modelToOpen(config), flags))
    },
  )
  addPulledModelsCommands(models, dependencies)
  addRunningModelsCommands(models, dependencies)
  addPriceCommand(models, dependencies)
}

async function inspectFile(model: ModelConfig, { render, json }: InspectFlags): Promise<number> {
  const { file } = model
  const custom = model.readout === '' ? undefined : chosenReadout(model.readout)
  await probeModel(model)
  const engine = await openMetadata(model)
  try {
    const { inspection, readout } = await inspectModel(file, engine, custom)
    const prompt = render === undefined || !readout ? undefined : await readPrompt(render, readout)
    if (json) {
      const shown = { ...inspection, ...(prompt && { prompt }) }
      print(`${JSON.stringify(shown, null, 2)}\n`)
    } else {
      print(prompt ? promptText(prompt) : inspectionText(inspection))
    }
    return readout ? exitCodes.ok : exitCodes.failure
  } finally {
    await engine.close()
  }
}

/** Images are shown as the model would get them, whether this one sees any or not. */
async function readPrompt(path: string, readout: Readout): Promise<ShownPrompt> {
  const { maxOptions } = readout
  const limits = { maxQuestions, maxOptions, maxLevels: maxOptions }
  const request = readRequest(readTextFile('--render', path), limits)
  const { images: found, state } = findImages(request)
  const images = found.length === 0 ? undefined : await readImages(found)
  return showPrompt(readout.render({ ...request, state }, images), readout.tokenTexts)
}
