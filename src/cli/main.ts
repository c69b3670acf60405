#!/usr/bin/env node
/**
 * The `oi` command. The only place that ends the process.
 *
 * @module
 */

import { createWire } from './create-wire.js'
import { openModel, surveyModel } from './opening/open-model.js'
import { run } from './run.js'
import { killedBy } from './signals.js'

const exit = (code: number) => process.exit(code)

// Process 1 of a container ignores every signal without a listener.
if (process.pid === 1) {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) exit(killedBy(signal))
    })
  }
}

const code = await run(process.argv, {
  openModel,
  surveyModel,
  createWire,
  environment: process.env,
  exit,
})
exit(code)
