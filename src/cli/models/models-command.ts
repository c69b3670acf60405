/**
 * `oi models`: inspect; its other commands have their own files.
 *
 * @module
 */

import type { Command } from 'commander'
import { readRequest } from '../../api/read-request.js'
import { type ModelConfig, readConfig } from '../../config.js'
import { maxQuestions } from '../../decide/model-card.js'
import { findImages } from '../../images/find-images.js'
import { readImages } from '../../images/read-images.js'
import { inspectModel } from '../../models/inspect.js'
import { chosenReadout } from '../../models/readout-file.js'
import type { Readout } from '../../prompt/types.js'
import { type CommandDependencies, exitCodes } from '../exit-codes.js'
import { inspectionText } from './inspection-text.js'
import { openMetadata, probeModel } from '../../opening/open-model.js'
import { readText } from '../input/read-text.js'
import { addPriceCommand } from '../accounts/price-command.js'
import { promptText, showPrompt, type ShownPrompt } from './rendering-text.js'
import { modelToOpen } from '../../opening/models-to-open.js'
import { print } from '../../terminal/print.js'
import { addPulledModelsCommands } from './pulled-models-command.js'
import { addRunningModelsCommands } from './running-models-command.js'
import { addSettings } from '../input/setting-options.js'

/** The settings that affect the readout and the placement of a model. */
const inspectSettings = [
  ...(['modelsDir', 'readout', 'contextTokens', 'device', 'split', 'tensorSplit'] as const),
  ...(['gpuLayers', 'cpuExperts', 'maxForks', 'batchTokens', 'microbatchTokens'] as const),
  'cacheType',
] as const

type InspectFlags = Partial<Record<(typeof inspectSettings)[number], string>> & {
  readonly render?: string
  readonly json?: boolean
}

export function addModelsCommand(program: Command, dependencies: CommandDependencies): void {
  const models = program
    .command('models')
    .description('model files, those of a running server, and what their tokens cost')
  const inspect = models
    .command('inspect')
    .description('show the facts about a model file, and its readout')
    .argument(
      '[model]',
      'a GGUF file, or the name of a pulled model; default: the model that oi serve would open',
    )
    .option('--render <file>', 'show the exact prompt of a request body')
    .option('--json', 'JSON for programs; sizes are bytes')
    .addHelpText(
      'after',
      '\nThe first time, it is loaded once, in a process of its own. Exit code 1: it cannot be served.',
    )
  addSettings(inspect, inspectSettings).action(
    async (model: string | undefined, { render, json, ...chosen }: InspectFlags) => {
      const config = readConfig(dependencies.environment, { ...chosen, model })
      dependencies.done(await inspectFile(modelToOpen(config), render, json))
    },
  )
  addPulledModelsCommands(models, dependencies)
  addRunningModelsCommands(models, dependencies)
  addPriceCommand(models, dependencies)
}

async function inspectFile(
  model: ModelConfig,
  render: string | undefined,
  json = false,
): Promise<number> {
  const { file } = model
  const custom = model.readout === '' ? undefined : await chosenReadout(model.readout)
  // Finds out whether the file can be loaded at all. The placement needs no loading.
  await probeModel({ ...model, device: 'cpu', tensorSplit: '', gpuLayers: 0, replicas: 0 })
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

/** Images are shown even if this model sees none. */
async function readPrompt(path: string, readout: Readout): Promise<ShownPrompt> {
  const { maxOptions } = readout
  const limits = { maxQuestions, maxOptions, maxLevels: maxOptions }
  const request = readRequest(await readText(path, '--render'), limits)
  const { images: found, state } = findImages(request)
  const images = found.length === 0 ? undefined : await readImages(found)
  return showPrompt(readout.render({ ...request, state }, images), readout.tokenTexts)
}
