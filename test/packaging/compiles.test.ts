/**
 * The packed package on a machine without a package of the addon: the addon is compiled there.
 *
 * Run by `npm run test:packages`, which packs it first.
 */
import t from 'tap'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { project as own } from '../../scripts/package/manifests.js'
import { answers, local, npmInstall, skip, succeeds } from '../helpers/installed.js'
import { programs, Project } from '../helpers/packed.js'

t.test('without the package of the platform, oi build compiles the addon', { skip }, async (t) => {
  // Always in the same place: the largest sources name others by absolute paths, and ccache finds
  // only files that it has compiled under the same paths.
  const folder = join(root, 'build', 'oi Größe')
  const project = new Project(t, { dependencies: { [own.name]: local[own.name] } }, folder)
  project.write('app.mjs', programs.esm)
  await succeeds(t, project.run('npm', npmInstall), 'is installed')
  t.match((await project.node('app.mjs')).output, /Compile it here: npx oi build/)
  await succeeds(t, project.run('npx', ['oi', 'build']), 'it is compiled')
  await answers(t, project.node('app.mjs'), 'then')
  const installed = join(project.folder, 'node_modules', own.name)
  t.notOk(existsSync(join(installed, 'vendor')), 'the sources of llama.cpp are gone')
  const products = ['oi.node', 'processor.node', 'stamp.json']
  t.strictSame(readdirSync(join(installed, 'build', 'default')).sort(), products)
  const lacking = { PATH: join(project.folder, 'none') }
  const again = [join('node_modules', '.bin', 'oi'), 'build', '--clean']
  const missing = await project.run(process.execPath, again, lacking)
  t.equal(missing.status, 1)
  t.match(missing.output, /Missing: .*CMake.*\n.*Install with:\n\n.*cmake/)
})
