/**
 * Builds what the tests of a kind of GPU need, in the system that they run in: `vulkan`, or `cuda`
 * and the architectures, with commas between.
 *
 * @module
 */

import { buildNative } from '../build/native.js'
import { BuildError } from '../build/run.js'

const [kind, architectures] = process.argv.slice(2)

try {
  if (kind === 'cuda') {
    const cudaArchitectures = architectures!.split(',')
    // What was compiled before a failure is kept: it takes hours.
    await buildNative(new Set(['cuda'] as const), ['oi'], { cudaArchitectures, once: true })
  } else {
    await buildNative(new Set(['vulkan'] as const), ['oi', 'oi-stress'])
  }
} catch (error) {
  console.error(error instanceof BuildError ? error.message : error)
  process.exitCode = 1
}
