/**
 * `npm run release`: the steps before publishing. Refuses a tree that is not clean; checks the
 * signatures of installed packages, packs for all systems, tests the packages on this one, writes
 * lists of their components (CycloneDX), and prints the remaining commands. It publishes nothing.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { root } from '../build/paths.js'
import { BuildError, run } from '../build/run.js'
import { runCommand } from '../command.js'
import { systemName, systems } from '../package/manifests.js'
import { packagesDir, tarballsIn, thisSystem } from '../package/packages.js'
import { billsOf, type Lock } from './bills.js'
import { complaints, type Tree } from './complaints.js'
import { readSignatures } from './signatures.js'

const read = (name: string) => readFileSync(join(root, name), 'utf8')

function output(command: string, args: readonly string[], folder = root): string {
  const { status, stdout } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new BuildError(`${command} ${args.join(' ')} failed`)
  return stdout
}

const usage = `Usage: npm run release

Checks, packs and tests what is published, and prints the commands that publish it. Takes no options.`

await runCommand(usage, main)

async function main(): Promise<number> {
  parseArgs({ options: {} })
  const lock = JSON.parse(read('package-lock.json')) as Lock
  const found = complaints({
    status: output('git', ['status', '--porcelain']).trimEnd(),
    changelog: read('CHANGELOG.md'),
    manifest: JSON.parse(read('package.json')) as Tree['manifest'],
    lock,
  })
  if (found.length > 0) throw new BuildError(found.join('\n'))
  const audit = ['audit', 'signatures', '--json']
  const { stdout } = spawnSync('npm', audit, { cwd: root, encoding: 'utf8' })
  const signatures = readSignatures(stdout)
  if (signatures.complaints.length > 0) throw new BuildError(signatures.complaints.join('\n'))
  const platforms = systems.flatMap((system) => ['--platform', systemName(system)])
  await run('npm', ['run', '--silent', 'package', '--', ...platforms], { cwd: root })
  // That script's own pre-script would pack this machine's platform alone.
  await run('npm', ['run', '--silent', 'tap-plugins'], { cwd: root })
  await run('npm', ['run', '--ignore-scripts', 'test:packages'], { cwd: root })
  const bills = billsOf(root, lock, output)
  for (const [name, text] of Object.entries(bills)) {
    writeFileSync(join(packagesDir, `sbom-${name}.cdx.json`), text)
  }
  const { unchecked } = signatures
  if (unchecked !== undefined) console.log(`\nNo signature of a package was checked: ${unchecked}`)
  for (const system of systems.filter((system) => system !== thisSystem())) {
    const name = systemName(system)
    console.log(`\nThe package of ${name} was not run here: npm run matrix -- --help`)
  }
  const { main, server } = tarballsIn(packagesDir)
  const addons = systems.map((system) => tarballsIn(packagesDir, system).platform)
  console.log(
    `\n${packagesDir}/sbom-*.cdx.json list what they consist of. Each needs the one before it:\n`,
  )
  for (const path of [...addons, main, server]) console.log(`  npm publish --access public ${path}`)
  return 0
}
