/**
 * `npm run release`: what is done before packages are published. Refuses a tree that is not clean;
 * packs, tests what was packed, writes the list of what it consists of (CycloneDX), and says what is
 * left to be typed. It publishes nothing.
 *
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { root } from '../build/paths.js'
import { BuildError, run } from '../build/run.js'
import { packagesDir, tarballsIn } from '../package/packages.js'
import { complaints, type Tree } from './complaints.js'

const read = (name: string) => readFileSync(join(root, name), 'utf8')

function output(command: string, args: readonly string[]): string {
  const { status, stdout } = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new BuildError(`${command} ${args.join(' ')} failed`)
  return stdout
}

try {
  const found = complaints({
    status: output('git', ['status', '--porcelain']).trimEnd(),
    changelog: read('CHANGELOG.md'),
    manifest: JSON.parse(read('package.json')) as Tree['manifest'],
    lock: JSON.parse(read('package-lock.json')) as Tree['lock'],
  })
  if (found.length > 0) throw new BuildError(found.join('\n'))
  await run('npm', ['run', 'test:packages'], { cwd: root })
  const bill = join(packagesDir, 'sbom.cdx.json')
  writeFileSync(bill, output('npm', ['run', '--silent', 'sbom']))
  const { main, platform, server } = tarballsIn(packagesDir)
  console.log(`\n${bill} lists what they consist of. Each needs the one before it:\n`)
  for (const path of [platform, main, server]) console.log(`  npm publish --access public ${path}`)
} catch (error) {
  console.error(error instanceof BuildError ? error.message : error)
  process.exitCode = error instanceof BuildError ? error.exitCode : 1
}
