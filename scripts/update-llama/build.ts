/**
 * `build.js TARGET...`: builds targets once, in the workshop that contains this copy.
 *
 * @module
 */

import { buildNative } from '../build/native.js'
import { BuildError } from '../build/run.js'

try {
  await buildNative(new Set(), process.argv.slice(2), { once: true })
} catch (error) {
  console.error(error instanceof BuildError ? error.message : error)
  process.exitCode = 1
}
