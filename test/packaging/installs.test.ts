/**
 * The packed packages, installed in empty projects by each package manager and used in each way that
 * JavaScript is: every project answers a question.
 *
 * Run by `npm run test:packages`, which packs them first: packages are fetched, and it takes minutes.
 */
import t, { type Test } from 'tap'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { filesIn } from '../../scripts/package/files.js'
import { project as own, serverName } from '../../scripts/package/manifests.js'
import { packagesDir, packagesFromFiles, tarballsIn } from '../../scripts/package/packages.js'
import { tool } from '../helpers/package-tools.js'
import { until } from '../helpers/until.js'
import { vacantPort } from '../helpers/vacant-port.js'
import { answer, type Outcome, programs, Project } from '../helpers/packed.js'

const skip = process.env['OI_TEST_PACKAGES'] ? false : 'run by npm run test:packages'

/** Of what an application installs, bytes; and from the installation to the first answer. */
const [mostBytes, longestMs] = [60e6, 30_000]

const tarballs = tarballsIn(packagesDir)
const local = packagesFromFiles(packagesDir)

/** The registry has none of these packages, so each manager is told where they are. */
const fromFiles = { overrides: local, resolutions: local, pnpm: { overrides: local } }

const quiet = ['--no-audit', '--no-fund', '--loglevel', 'error']

function newProject(t: Test, dependencies: Readonly<Record<string, string>> = {}): Project {
  const all = { [own.name]: local[own.name], ...dependencies }
  const project = new Project(t, { ...fromFiles, dependencies: all })
  project.write('app.mjs', programs.esm)
  project.write('app.cjs', programs.commonJs)
  project.write('worker.mjs', programs.worker)
  return project
}

async function answers(t: Test, outcome: Promise<Outcome>, name: string): Promise<void> {
  const { stdout, output } = await outcome
  t.match(stdout, answer, name, { output })
}

async function succeeds(t: Test, outcome: Promise<Outcome>, name: string): Promise<string> {
  const { status, output } = await outcome
  t.equal(status, 0, name, { output })
  return output
}

const bytesOf = (folder: string) =>
  filesIn(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

t.test('npm, with scripts ignored', { skip }, async (t) => {
  const project = newProject(t)
  const startMs = performance.now()
  const install = ['install', '--ignore-scripts', ...quiet]
  await succeeds(t, project.run('npm', install), 'is installed')
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
  await succeeds(t, project.run('npm', ['install', ...quiet]), 'is installed')
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
  const yarn = await tool('yarn')
  const cache = ['--cache-folder', join(project.folder, '.cache')]
  await succeeds(t, project.run(yarn, ['install', '--no-progress', ...cache]), 'is installed')
  await answers(t, project.node('app.mjs'), 'import')
  await answers(t, project.node('app.cjs'), 'require()')
})

t.test('esbuild, with the package left outside of the bundle', { skip }, async (t) => {
  const project = newProject(t)
  await succeeds(t, project.run('npm', ['install', '--ignore-scripts', ...quiet]), 'is installed')
  const esbuild = await tool('esbuild')
  const common = ['--bundle', '--platform=node', `--external:${own.name}`, '--log-level=warning']
  for (const [format, file] of [
    ['esm', 'app.mjs'],
    ['cjs', 'app.cjs'],
  ] as const) {
    const bundle = [file, ...common, `--format=${format}`, `--outfile=bundle/${file}`]
    await succeeds(t, project.run(esbuild, bundle), `${format} is bundled`)
    await answers(t, project.node(`bundle/${file}`), format)
  }
})

t.test('TypeScript, in every way to find modules, with all types checked', { skip }, async (t) => {
  const types = own.devDependencies['@types/node']!
  const project = newProject(t, { '@types/node': types })
  await succeeds(t, project.run('npm', ['install', '--ignore-scripts', ...quiet]), 'is installed')
  const modes: readonly (readonly [string, string, string])[] = [
    ['node16', 'node16', 'mts'],
    ['node16', 'node16', 'cts'],
    ['nodenext', 'nodenext', 'mts'],
    ['nodenext', 'nodenext', 'cts'],
    ['esnext', 'bundler', 'mts'],
  ]
  for (const [module, moduleResolution, ending] of modes) {
    const name = `${moduleResolution}, .${ending}`
    const folder = `ts-${moduleResolution}-${ending}`
    project.write(`${folder}/app.${ending}`, programs.typescript)
    const compilerOptions = { module, moduleResolution, target: 'es2022', strict: true }
    const rest = { lib: ['es2023', 'esnext.disposable'], types: ['node'], rootDir: '.' }
    project.write(
      `${folder}/tsconfig.json`,
      JSON.stringify({ compilerOptions: { ...compilerOptions, ...rest } }),
    )
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    await succeeds(t, project.node(tsc, '--project', folder), `${name}: it compiles`)
    await answers(t, project.node(`${folder}/app.${ending.replace('ts', 'js')}`), name)
  }
})

t.test('checkers of published packages find nothing', { skip }, async (t) => {
  const project = new Project(t)
  for (const path of [tarballs.main, tarballs.server]) {
    const lint = ['run', path, '--strict']
    await succeeds(t, project.run(await tool('publint'), lint), 'publint')
  }
  const entries = ['--entrypoints', '.', 'client', '--no-color', '--no-emoji']
  await succeeds(t, project.run(await tool('attw'), [tarballs.main, ...entries]), 'attw')
})

t.test('without the package of the platform, oi build compiles the addon', { skip }, async (t) => {
  const project = new Project(t, { dependencies: { [own.name]: local[own.name] } })
  project.write('app.mjs', programs.esm)
  await succeeds(t, project.run('npm', ['install', '--ignore-scripts', ...quiet]), 'is installed')
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

t.test('the server’s package serves', { skip }, async (t) => {
  const dependencies = { [serverName]: `file:${tarballs.server}` }
  const project = new Project(t, { ...fromFiles, dependencies })
  await succeeds(t, project.run('npm', ['install', '--ignore-scripts', ...quiet]), 'is installed')
  const keys = ['keys', 'list', '--data-dir', 'data']
  if (Number(process.versions.napi) < 10) {
    const [, older] = /^ {2}npm (install \S+)$/m.exec((await project.oi(...keys)).output) ?? []
    t.match(older, /^install better-sqlite3@12\./, 'the one for this Node is named')
    const install = [...older!.split(' '), '--ignore-scripts', ...quiet]
    await succeeds(t, project.run('npm', install), 'and is installed')
    t.match((await project.oi(...keys)).output, /npm rebuild better-sqlite3/)
    // What its install script makes, which takes a minute where it has no binary to fetch.
    const binary = join('node_modules', 'better-sqlite3', 'build')
    cpSync(join(root, binary), join(project.folder, binary), { recursive: true })
  }
  await succeeds(t, project.oi(...keys), 'the accounts open')

  const port = String(await vacantPort())
  const oi = join(project.folder, 'node_modules', '.bin', 'oi')
  const serve = [oi, 'serve', '--port', port, '--data-dir', 'data', '--threads', '1']
  const child = spawn(process.execPath, serve, { cwd: project.folder })
  const exited = once(child, 'exit')
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout.on('data', (data) => (said += data))
  child.stderr.on('data', (data) => (said += data))
  child.once('exit', () => (said += 'Ready'))
  await until(() => said.includes('Ready'))
  t.match(said, /Listening on \S+ \((?:uWebSockets\.js|node:http, as .+)\)/)
  const authorization = `Bearer ${/^ {2}(\S+)$/m.exec(said)?.[1]}`
  const headers = { authorization, 'content-type': 'application/json' }
  const questions = { wet: { type: 'noul', instructions: 'Is it wet?' } }
  const body = JSON.stringify({ state: 'It rains.', questions })
  const url = `http://127.0.0.1:${port}/v1/systemone`
  const reply = await fetch(url, { method: 'POST', headers, body })
  t.equal(reply.status, 200, await reply.text())
  child.kill('SIGINT')
  t.strictSame(await exited, [0, null])
})
