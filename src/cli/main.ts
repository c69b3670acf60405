#!/usr/bin/env node
/**
 * The `oi` command. The only place that ends the process.
 *
 * @module
 */

import { defaultModelPath } from '../models/default-model.js'
import { createWire } from './create-wire.js'
import { openModel } from './open-model.js'
import { run } from './run.js'

const exit = (code: number) => process.exit(code)

const code = await run(process.argv, {
  openModel,
  defaultModel: defaultModelPath,
  createWire,
  environment: process.env,
  exit,
})
exit(code)
