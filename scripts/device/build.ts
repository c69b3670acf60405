/**
 * Builds what the tests of devices need, in the system that they run in.
 *
 * @module
 */

import { buildNative } from '../build/native.js'
import { BuildError } from '../build/run.js'

try {
  await buildNative(new Set(['vulkan'] as const), ['oi', 'oi-stress'])
} catch (error) {
  console.error(error instanceof BuildError ? error.message : error)
  process.exitCode = 1
}
