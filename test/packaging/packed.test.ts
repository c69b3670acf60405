/**
 * The packed packages, unpacked where npm would put them: they have all files that they need and no
 * others. Their dependencies are this project's, so that nothing is fetched; installs.test.ts
 * installs them with package managers.
 *
 * Needs the built addon.
 */
import t, { type Test } from 'tap'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buildNative } from '../../scripts/build/native.js'
import { root } from '../../scripts/build/paths.js'
import { filesIn } from '../../scripts/package/files.js'
import {
  makePackages,
  packagesDir,
  type Tarballs,
  tarballsIn,
  thisSystem,
} from '../../scripts/package/packages.js'
import { answer, programs, Project } from '../helpers/packed.js'

const system = thisSystem()
const skip = system === undefined ? 'there is no package for this system' : false

/** Made by `npm run test:packages`. Otherwise they are made here, with this checkout's addon. */
const areMade = process.env['OI_TEST_PACKAGES'] !== undefined
const out = areMade ? packagesDir : mkdtempSync(join(tmpdir(), 'oi-packages-'))
if (!areMade) t.teardown(() => rmSync(out, { recursive: true }))
let made: Promise<void> | undefined
const make = async () => {
  if (areMade) return
  await makePackages([{ system: system!, addonDir: await buildNative(new Set()) }], out)
}

/** A project with the packages of these tarballs, and their dependencies from this project. */
async function projectWith(t: Test, ...packages: (keyof Tarballs)[]) {
  await (made ??= make())
  const tarballs = tarballsIn(out)
  const project = new Project(t)
  const modules = join(project.folder, 'node_modules')
  const dependencies = new Set<string>()
  for (const name of packages) {
    const unpacked = join(project.folder, name)
    mkdirSync(unpacked)
    await project.run('tar', ['-xzf', tarballs[name], '-C', unpacked, '--strip-components', '1'])
    const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as {
      readonly name: string
      readonly dependencies?: Readonly<Record<string, string>>
      readonly bin?: Readonly<Record<string, string>>
    }
    const place = join(modules, manifest.name)
    mkdirSync(dirname(place), { recursive: true })
    renameSync(unpacked, place)
    for (const [command, file] of Object.entries(manifest.bin ?? {})) {
      mkdirSync(join(modules, '.bin'), { recursive: true })
      rmSync(join(modules, '.bin', command), { force: true })
      symlinkSync(join(place, file), join(modules, '.bin', command))
    }
    for (const needed of Object.keys(manifest.dependencies ?? {})) dependencies.add(needed)
  }
  for (const name of dependencies) {
    const place = join(modules, name)
    mkdirSync(dirname(place), { recursive: true })
    if (!existsSync(place)) symlinkSync(join(root, 'node_modules', name), place)
  }
  project.write('app.mjs', programs.esm)
  project.write('app.cjs', programs.commonJs)
  return project
}

t.test('import and require() answer', { skip }, async (t) => {
  const project = await projectWith(t, 'main', 'platform')
  for (const file of ['app.mjs', 'app.cjs']) {
    const { stdout, output } = await project.node(file)
    t.match(stdout, answer, { output })
  }
})

t.test(
  'without the package of the platform, the error names every place and the remedy',
  { skip },
  async (t) => {
    const project = await projectWith(t, 'main')
    const { status, output } = await project.node('app.mjs')
    t.equal(status, 1)
    t.match(output, /ERR_ADDON_NOT_FOUND/)
    t.match(
      output,
      /compiled here, .*node_modules.oi-systemone.build.default.oi\.node: it is not there/,
    )
    t.match(output, /package @oi-systemone\/\S+: it is not installed/)
    t.match(output, /Compile it here: npx oi build/)

    const bare = await project.run(process.execPath, ['app.mjs'], { PATH: project.folder })
    const missing = 'a C\\+\\+ compiler, CMake, git, Ninja or make'
    t.match(bare.output, new RegExp(`install ${missing}: .* g\\+\\+ cmake git ninja-build$`, 'm'))
  },
)

const isRoot = process.platform === 'linux' && process.getuid?.() === 0

t.test(
  'a user who may not write in the package gets an error before anything is compiled',
  { skip: skip || (!isRoot && 'only root of Linux may') },
  async (t) => {
    const project = await projectWith(t, 'main')
    chmodSync(project.folder, 0o755)
    const asOther = ['--reuid', '54321', '--clear-groups', process.execPath]
    const command = join('node_modules', '.bin', 'oi')
    const { status, output } = await project.run('setpriv', [...asOther, command, 'build'])
    t.equal(status, 1)
    t.match(output, /^Cannot write in .*oi-systemone.* \(EACCES\)\. Run this as .*\.\n$/)
  },
)

t.test('if Node may not load addons, the error names the flags', { skip }, async (t) => {
  const project = await projectWith(t, 'main', 'platform')
  const { status, output } = await project.node('--no-addons', 'app.mjs')
  t.equal(status, 1)
  t.match(output, /Start Node without --no-addons, and beside --permission with --allow-addons\./)
})

t.test(
  'a part that only the server needs is named with the command that installs it',
  { skip },
  async (t) => {
    const project = await projectWith(t, 'main', 'platform')
    const served = await project.oi('serve', '--port', '0')
    t.equal(served.status, 1)
    t.match(served.output, /the package pino is not installed/)
    t.match(served.output, /`npm install @oi-systemone\/server@\d/)
    // As npm install --global has it, which would refuse a second package with the command oi.
    rmSync(join(project.folder, 'package.json'))
    const globally = await project.oi('serve', '--port', '0')
    t.match(
      globally.output,
      /`npm uninstall --global oi-systemone && npm install --global @oi-systemone\/server@\d/,
    )
    const asked = await project.oi('ask', 'It rains.', '--noul', 'Is it wet?')
    t.equal(asked.status, 0, { output: asked.output })
  },
)

t.test('the server’s package has the command, and all that it needs', { skip }, async (t) => {
  const project = await projectWith(t, 'main', 'platform', 'server')
  const { status, output } = await project.oi('workspaces', 'create', 'x', '--data-dir', 'data')
  t.equal(status, 0, { output })
})

t.test('no unnecessary file is packed', { skip }, async (t) => {
  const { folder } = await projectWith(t, 'main', 'platform')
  const files = filesIn(join(folder, 'node_modules', 'oi-systemone'))
  const odd =
    /\.map$|\.tsbuildinfo$|(?:^|\/)test\/(?!.*\.(?:cc|h)$)|^dist\/scripts\/(?!build\/)|(?<!\.d)\.ts$/
  t.strictSame(
    files.filter((name) => odd.test(name)),
    [],
  )
  for (const name of ['dist/src/runner/main.js', 'LICENSE']) {
    t.ok(files.includes(name), name)
  }
})
