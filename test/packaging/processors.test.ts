/**
 * The packed addon on other processors, emulated by qemu: on one of ten years ago it answers, and
 * on one that lacks its instructions opening a model is refused in a sentence.
 *
 * Run by `npm run test:packages`, which packs it first.
 */
import t from 'tap'
import { probe } from '../../scripts/build/run.js'
import { project as own } from '../../scripts/package/manifests.js'
import { packagesDir, packagesFromFiles, thisSystem } from '../../scripts/package/packages.js'
import { answer, programs, Project } from '../helpers/packed.js'

const qemu = 'qemu-x86_64-static'
const system = thisSystem()
const skip = !process.env['OI_TEST_PACKAGES']
  ? 'run by npm run test:packages'
  : system?.cpu === 'x64' && probe(qemu, ['--version']) !== undefined
    ? false
    : `there is no ${qemu}`

t.test('the packed addon on other processors', { skip }, async (t) => {
  const overrides = packagesFromFiles(packagesDir)
  const dependencies = { [own.name]: overrides[own.name] }
  const project = new Project(t, { dependencies, overrides })
  const install = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error']
  const { status, output } = await project.run('npm', install)
  t.equal(status, 0, 'is installed', { output })
  project.write('app.mjs', programs.esm)
  project.write(
    'refused.mjs',
    `import { open } from 'oi-systemone'
await open({ threads: 1 }).catch(({ code, message }) => console.log(code, message))
console.log('It goes on.')`,
  )
  const on = (cpu: string, file: string) => project.run(qemu, ['-cpu', cpu, process.execPath, file])

  const haswell = await on('Haswell', 'app.mjs')
  t.match(haswell.stdout, answer, 'with AVX2 it answers', { output: haswell.output })
  const nehalem = await on('Nehalem', 'refused.mjs')
  t.match(nehalem.stdout, /^ERR_ADDON_NOT_FOUND /, 'without AVX2', { output: nehalem.output })
  t.match(nehalem.stdout, /package @oi-systemone\/\S+: .* and this one lacks .*\bavx2\b/)
  t.match(nehalem.stdout, /^Compile it here: npx oi build$/m)
  t.match(nehalem.stdout, /^It goes on\.$/m)
})
