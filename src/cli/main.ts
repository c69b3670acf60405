#!/usr/bin/env node
/**
 * The `oi` command. The only place that ends the process.
 *
 * @module
 */

import { createWire } from './create-wire.js'
import { openModel } from './open-model.js'
import { run } from './run.js'

const exit = (code: number) => process.exit(code)

exit(await run(process.argv, { openModel, createWire, environment: process.env, exit }))
