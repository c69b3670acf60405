#!/usr/bin/env node
/**
 * The `oi` command. The only place that ends the process.
 *
 * @module
 */

import { createWire } from './create-wire.js'
import { exitCodes } from './dependencies.js'
import { openModel, surveyModel } from './open-model.js'
import { run } from './run.js'

const exit = (code: number) => process.exit(code)

// Whoever reads the output may stop reading, as `head` does: nothing is left to say then.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  exit(exitCodes.ok)
})

const code = await run(process.argv, {
  openModel,
  surveyModel,
  createWire,
  environment: process.env,
  exit,
})
exit(code)
