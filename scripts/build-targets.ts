/**
 * `build-targets.js KIND TARGETS [ARCHITECTURES]`: builds targets of the addon once, in the tree and
 * the system in which it runs; lists have commas. KIND is a switch of the build, or `default`.
 *
 * @module
 */

import { buildNative, type Switch } from './build/native.js'
import { runCommand } from './command.js'

await runCommand('Usage: build-targets KIND TARGETS [ARCHITECTURES]', async () => {
  const [kind, targets, architectures] = process.argv.slice(2)
  const enabled = new Set(kind === 'default' ? [] : [kind as Switch])
  const cudaArchitectures = architectures?.split(',') ?? []
  // Files compiled before a failure are kept: those for CUDA take hours.
  const once = kind !== 'vulkan'
  await buildNative(enabled, targets!.split(','), { cudaArchitectures, once })
  return 0
})
