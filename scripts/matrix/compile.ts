/**
 * The package on a machine without a package of the addon, in a Debian with Node and without
 * compilers. Only the packages that `open()` names in its error are installed; then `npx oi build`
 * must succeed.
 *
 * @module
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BuildError } from '../build/run.js'
import { markdownTable } from '../markdown.js'
import { project as own } from '../package/manifests.js'
import { packagesDir, tarballsIn } from '../package/packages.js'
import { answer, npmInstall, program } from './checks.js'
import { DebianTree, matrixDir, type Place } from './debian.js'
import { nodeRelease, npmPackage } from './nodes.js'

const headings = ['Debian', 'Node', 'Installed', '`npx oi build`', '`open()`, `decide()`']

/**
 * @param debian - Numbers of releases.
 * @param nodeName - A release of Node.
 * @returns A table for the README.
 * @throws {@link BuildError} with the output of a failed step.
 */
export async function checkCompile(debian: readonly string[], nodeName: string): Promise<string> {
  const [node, npm] = [await nodeRelease(nodeName), await npmPackage()]
  const path = [join(node.folder, 'bin'), join(npm, '..', '.bin')].join(':')
  const rows: string[][] = []
  for (const release of debian) {
    const made = await DebianTree.make(release)
    const work = join(matrixDir, 'work', `compile-${release}`)
    const place = { folder: join(work, 'project'), path }
    mkdirSync(place.folder, { recursive: true })
    console.error(`Debian ${made.version}, Node ${node.version}, without a package of the addon`)
    // Its installed packages must not be there for the next run.
    const cells = await compiled(await made.copyTo(join(work, 'debian')), place)
    rows.push([made.version, node.version, ...cells])
    rmSync(work, { recursive: true })
  }
  return markdownTable(headings, rows)
}

async function compiled(tree: DebianTree, place: Place): Promise<readonly string[]> {
  const dependencies = { [own.name]: `file:${tarballsIn(packagesDir).main}` }
  const manifest = { name: 'project', private: true, dependencies }
  writeFileSync(join(place.folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(place.folder, 'app.mjs'), program)
  const says = async (status: number, command: readonly string[], expected: RegExp) => {
    const outcome = await tree.run(place, command)
    const found = expected.exec(outcome.output)
    if (outcome.status === status && found !== null) return found
    throw new BuildError(`${command.join(' ')} ended with ${outcome.status}:\n${outcome.output}`)
  }
  const oiBuild = ['npx', 'oi', 'build']

  await says(0, ['npm', ...npmInstall], /^/)
  const remedy = /^(?:\w+: )*Compile it here: npx oi build\nFor that, install .*: (.* install .*)$/m
  const install = (await says(1, ['node', 'app.mjs'], remedy))[1]!
  const [, again] = await says(1, oiBuild, /^Missing: .*\nInstall with:\n\n {2}(.*)$/m)
  if (again !== install) throw new BuildError(`open() says "${install}", oi build "${again}"`)
  await says(0, ['sh', '-c', install], /^/)
  const startMs = performance.now()
  await says(0, oiBuild, /^/)
  const minutes = ((performance.now() - startMs) / 60_000).toFixed(1)
  const [, probability] = await says(0, ['node', 'app.mjs'], answer)
  return [`\`${install}\``, `${minutes} min`, Number(probability).toFixed(4)]
}
