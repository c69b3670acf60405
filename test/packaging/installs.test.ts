/**
 * The packed packages, installed in empty projects by each package manager: every project answers a
 * question.
 *
 * Run by `npm run test:packages`, which packs them first: packages are fetched, and it takes
 * minutes.
 */
import t from 'tap'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { filesIn } from '../../scripts/package/files.js'
import { project as own } from '../../scripts/package/manifests.js'
import {
  answers,
  local,
  newProject,
  npmInstall,
  skip,
  succeeds,
  tarballs,
} from '../helpers/installed.js'
import { Project } from '../helpers/packed.js'
import { tool } from '../helpers/package-tools.js'
import { scopeRegistry } from '../helpers/scope-registry.js'

/** Installed bytes of an application; time from the installation to the first answer. */
const [mostBytes, longestMs] = [60e6, 30_000]

const bytesOf = (folder: string) =>
  filesIn(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

t.test('npm, with scripts ignored', { skip }, async (t) => {
  const project = newProject(t)
  const startMs = performance.now()
  await succeeds(t, project.run('npm', npmInstall), 'is installed')
  await answers(t, project.node('app.mjs'), 'import')
  const tookMs = performance.now() - startMs
  await answers(t, project.node('app.cjs'), 'require()')
  await answers(t, project.node('worker.mjs'), 'a worker thread')
  const asked = project.oi('ask', 'It rains.', '--noul', 'Is it wet?')
  await succeeds(t, asked, 'the command')

  const bytes = bytesOf(join(project.folder, 'node_modules'))
  t.comment(`${Math.round(bytes / 1e6)} MB installed, first answer after ${Math.round(tookMs)} ms`)
  t.ok(bytes < mostBytes, 'it is small')
  t.ok(tookMs < longestMs, 'it is quick')
  const installed = readdirSync(join(project.folder, 'node_modules'))
  for (const name of Object.keys(own.peerDependenciesMeta)) t.notOk(installed.includes(name), name)
})

t.test('npm, with scripts', { skip }, async (t) => {
  const project = newProject(t)
  await succeeds(
    t,
    project.run(
      'npm',
      npmInstall.filter((flag) => flag !== '--ignore-scripts'),
    ),
    'is installed',
  )
  await answers(t, project.node('app.mjs'), 'import')
})

t.test('pnpm', { skip }, async (t) => {
  const project = newProject(t)
  const pnpm = await tool('pnpm')
  const install = ['install', '--store-dir', join(project.folder, '.store')]
  await succeeds(t, project.run(pnpm, install), 'is installed')
  await answers(t, project.node('app.mjs'), 'import')
  await answers(t, project.node('app.cjs'), 'require()')
})

t.test('yarn', { skip }, async (t) => {
  const project = newProject(t)
  // It leaves out a package for another system unless it gets its path.
  const dependencies = { [own.name]: local[own.name] }
  project.write('package.json', JSON.stringify({ name: 'project', private: true, dependencies }))
  project.write('.npmrc', await scopeRegistry(t))
  const yarn = await tool('yarn')
  const cache = ['--cache-folder', join(project.folder, '.cache')]
  await succeeds(t, project.run(yarn, ['install', '--no-progress', ...cache]), 'is installed')
  await answers(t, project.node('app.mjs'), 'import')
  await answers(t, project.node('app.cjs'), 'require()')
})

t.test('npm, globally: oi runs from any folder', { skip }, async (t) => {
  const [system, elsewhere] = [new Project(t), new Project(t)]
  const prefix = join(system.folder, 'usr')
  const install = [...npmInstall, '--global', '--prefix', prefix, tarballs.main, tarballs.platform]
  await succeeds(t, system.run('npm', install), 'is installed')
  const ask = ['ask', 'It rains.', '--noul', 'Is it wet?']
  await succeeds(t, elsewhere.run(join(prefix, 'bin', 'oi'), ask), 'the command')
})
