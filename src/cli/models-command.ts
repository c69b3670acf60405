/**
 * `oi models`: inspect.
 *
 * @module
 */

import type { Command } from 'commander'
import { readRequest } from '../api/read-request.js'
import { readConfig } from '../config.js'
import { maxQuestions } from '../decide/model-card.js'
import { openEngine } from '../engine/engine.js'
import { inspectModel } from '../models/inspect.js'
import type { Readout } from '../prompt/readout.js'
import { type Dependencies, exitCodes } from './dependencies.js'
import { inspectionText } from './inspection-text.js'
import { chosen } from './open-model.js'
import { readTextFile } from './read-text.js'
import { promptText, showPrompt, type ShownPrompt } from './rendering-text.js'
import { requireModel } from './require-model.js'
import { addSettings } from './setting-options.js'

interface InspectFlags {
  readonly contextTokens?: string
  readonly render?: string
  readonly json?: boolean
}

export function addModelsCommand(
  program: Command,
  dependencies: Dependencies,
  done: (code: number) => void,
): void {
  const models = program.command('models').description('model files')
  const inspect = models
    .command('inspect')
    .description('show what a model file is and how it is asked, without loading its weights')
    .argument('[file]', 'a GGUF file; without it, the model that oi serve would take')
    .option('--render <file>', 'show the exact prompt of a request body')
    .option('--json', 'for machines; sizes are bytes')
    .addHelpText('after', '\nExit code 1: it cannot be served.')
  addSettings(inspect, ['contextTokens']).action(
    async (model: string | undefined, flags: InspectFlags) => {
      const { contextTokens } = flags
      const config = readConfig(dependencies.environment, { model, contextTokens })
      const file = requireModel(config, dependencies).model
      done(await inspectFile(file, chosen(config.contextTokens), flags))
    },
  )
}

async function inspectFile(
  file: string,
  contextTokens: number | undefined,
  { render, json }: InspectFlags,
): Promise<number> {
  const engine = await openEngine({ modelPath: file, metadataOnly: true, contextTokens })
  try {
    const { inspection, readout } = await inspectModel(file, engine)
    const prompt = render === undefined || !readout ? undefined : readPrompt(render, readout)
    if (json) {
      const shown = { ...inspection, ...(prompt && { prompt }) }
      process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`)
    } else {
      process.stdout.write(prompt ? promptText(prompt) : inspectionText(inspection))
    }
    return readout ? exitCodes.ok : exitCodes.failure
  } finally {
    await engine.close()
  }
}

function readPrompt(path: string, readout: Readout): ShownPrompt {
  const { maxOptions } = readout
  const limits = { maxQuestions, maxOptions, maxLevels: maxOptions }
  return showPrompt(readout.render(readRequest(readTextFile('--render', path), limits)), readout)
}
