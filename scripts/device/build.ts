/**
 * Builds the tests' needs for a kind of GPU, in the system in which they run: `vulkan`, or `cuda`
 * and the architectures, separated by commas.
 *
 * @module
 */

import { buildNative } from '../build/native.js'
import { BuildError } from '../build/run.js'

const [kind, architectures] = process.argv.slice(2)

try {
  if (kind === 'cuda') {
    const cudaArchitectures = architectures!.split(',')
    // Files compiled before a failure are kept: they take hours.
    await buildNative(new Set(['cuda'] as const), ['oi'], { cudaArchitectures, once: true })
  } else {
    await buildNative(new Set(['vulkan'] as const), ['oi', 'oi-stress'])
  }
} catch (error) {
  console.error(error instanceof BuildError ? error.message : error)
  process.exitCode = 1
}
