/**
 * `npm run package [-- --platform NAME]`: the tarballs of all packages, in `build/packages`.
 *
 * @module
 */

import { readdirSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { buildNative, type Switch } from '../build/native.js'
import { root } from '../build/paths.js'
import { runCommand, UsageError } from '../command.js'
import { type System, systemName, systems } from './manifests.js'
import { type Build, makePackages, packagesDir, thisSystem } from './packages.js'

const usage = `Usage: npm run package [-- --platform NAME]...

  --platform NAME   the systems that get a package with the addon: ${systems.map(systemName).join(', ')};
                    this machine's unless one is named. linux-arm64 is compiled on Linux with
                    Debian's cross compiler, of the package g++-aarch64-linux-gnu.

Exit codes: 0 they are made, 1 a step failed, 2 wrong usage.`

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      platform: { type: 'string', multiple: true },
    },
  })
  const names = new Set(values.platform ?? [`${process.platform}-${process.arch}`])
  const builds: Build[] = []
  for (const name of names) builds.push(await portable(name))
  await makePackages(builds, packagesDir)
  for (const name of readdirSync(packagesDir).filter((name) => name.endsWith('.tgz'))) {
    const path = join(packagesDir, name)
    console.log(`${relative(root, path)}  ${(statSync(path).size / 1e6).toFixed(1)} MB`)
  }
  return 0
}

async function portable(name: string): Promise<Build> {
  const system = systems.find((system) => systemName(system) === name)
  if (system === undefined) throw new UsageError(`--platform: there is no package for ${name}`)
  return {
    system,
    addonDir: await buildNative(new Set(['portable', ...crossing(system)] as const)),
  }
}

/** The switches that compile for another system. */
function crossing(system: System): Switch[] {
  if (system === thisSystem()) return []
  if (process.platform === 'linux' && system.cpu === 'arm64') return ['linux-arm64']
  throw new UsageError(`--platform: ${systemName(system)} is compiled on such a machine alone`)
}
