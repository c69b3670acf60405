/**
 * `npm run package`: the tarballs of all packages, in `build/packages`.
 *
 * @module
 */

import { statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { buildNative } from '../build/native.js'
import { root } from '../build/paths.js'
import { BuildError } from '../build/run.js'
import { makePackages, packagesDir } from './packages.js'

try {
  const addon = join(await buildNative(new Set(['portable'] as const)), 'oi.node')
  const { main, platform, server } = await makePackages(addon, packagesDir)
  for (const path of [main, platform, server]) {
    const megabytes = (statSync(path).size / 1e6).toFixed(1)
    console.log(`${relative(root, path)}  ${megabytes} MB`)
  }
} catch (error) {
  console.error(error instanceof BuildError ? error.message : error)
  process.exitCode = error instanceof BuildError ? error.exitCode : 1
}
