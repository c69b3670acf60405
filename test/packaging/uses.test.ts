/**
 * The packed packages, installed, in bundlers, TypeScript and package checkers.
 *
 * Run by `npm run test:packages`, which packs them first.
 */
import t from 'tap'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { project as own } from '../../scripts/package/manifests.js'
import { answers, newProject, npmInstall, skip, succeeds, tarballs } from '../helpers/installed.js'
import { programs, Project } from '../helpers/packed.js'
import { tool } from '../helpers/package-tools.js'

t.test('esbuild, with the package left outside of the bundle', { skip }, async (t) => {
  const project = newProject(t)
  await succeeds(t, project.run('npm', npmInstall), 'is installed')
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

t.test(
  'TypeScript, with every kind of module resolution, with all types checked',
  { skip },
  async (t) => {
    const types = own.devDependencies['@types/node']!
    const project = newProject(t, { '@types/node': types })
    await succeeds(t, project.run('npm', npmInstall), 'is installed')
    const modes: readonly (readonly [string, string, string])[] = [
      ['node16', 'node16', 'mts'],
      ['node16', 'node16', 'cts'],
      ['nodenext', 'nodenext', 'mts'],
      ['nodenext', 'nodenext', 'cts'],
      ['esnext', 'bundler', 'mts'],
    ]
    const apps = modes.map(([module, moduleResolution, ending]) => {
      const folder = `ts-${moduleResolution}-${ending}`
      project.write(`${folder}/app.${ending}`, programs.typescript)
      const compilerOptions = { module, moduleResolution, target: 'es2022', strict: true }
      const rest = { lib: ['es2023', 'esnext.disposable'], types: ['node'], rootDir: '.' }
      project.write(
        `${folder}/tsconfig.json`,
        JSON.stringify({ compilerOptions: { ...compilerOptions, ...rest } }),
      )
      return { folder, program: `${folder}/app.${ending.replace('ts', 'js')}` }
    })
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
    // One process for all of them reads the types once.
    const compiled = project.node(tsc, '--build', ...apps.map(({ folder }) => folder))
    await succeeds(t, compiled, 'it compiles')
    for (const { folder, program } of apps) await answers(t, project.node(program), folder)
  },
)

t.test('checkers of published packages find no fault', { skip }, async (t) => {
  const project = new Project(t)
  for (const path of [tarballs.main, tarballs.server]) {
    const lint = ['run', path, '--strict']
    await succeeds(t, project.run(await tool('publint'), lint), 'publint')
  }
  const entries = ['--entrypoints', '.', 'client', '--no-color', '--no-emoji']
  await succeeds(t, project.run(await tool('attw'), [tarballs.main, ...entries]), 'attw')
})
