/**
 * Compiles the addon, or finds that it is up to date.
 *
 * Every set of switches has a build folder of its own, so that changing between them
 * never rebuilds. A stamp, written last, says what a folder was built from; a folder
 * without one is built again, and one that fails is wiped and tried once more, so that
 * a build that was interrupted at any point repairs itself.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { checkPrerequisites } from './prerequisites.js'
import { root } from './paths.js'
import { BuildError, probe, run } from './run.js'
import { llamaTree, type LlamaTree } from './vendor.js'

/** Switches of the build and the CMake options they turn on. */
export const switches = {
  cuda: 'OI_CUDA',
  vulkan: 'OI_VULKAN',
  metal: 'OI_METAL',
  hip: 'OI_HIP',
  portable: 'OI_PORTABLE',
  sanitize: 'OI_SANITIZE',
} as const

export type Switch = keyof typeof switches

const require = createRequire(import.meta.url)

/** The folder of a build: `build/default`, or the switches joined, as `build/cuda-portable`. */
export function buildDir(enabled: ReadonlySet<Switch>): string {
  const name = [...enabled].sort().join('-')
  return join(root, 'build', name === '' ? 'default' : name)
}

/**
 * Builds `targets` (the addon when empty).
 *
 * @returns The build folder; the addon in it is `oi.node`.
 * @throws {@link BuildError} with what is missing or what failed.
 */
export async function buildNative(
  enabled: ReadonlySet<Switch>,
  targets: readonly string[] = [],
): Promise<string> {
  const out = buildDir(enabled)
  const stampPath = join(out, 'stamp.json')
  const addon = join(out, 'oi.node')

  // The stamp speaks for the pinned tree only; another checkout may have changed.
  const before = process.env['LLAMA_CPP_DIR'] ? undefined : stamp(enabled)
  if (targets.length === 0 && existsSync(addon) && before && read(stampPath) === before) return out

  checkPrerequisites()
  const tree = await llamaTree()
  mkdirSync(out, { recursive: true })
  rmSync(stampPath, { force: true })
  console.log(`Building ${targets.length ? targets.join(', ') : 'the addon'} in ${out}`)
  try {
    await cmake(enabled, tree, out, targets)
  } catch (error) {
    if (!existsSync(join(out, 'CMakeCache.txt'))) throw error
    console.log('The build failed; trying once more from an empty folder.')
    rmSync(out, { recursive: true, force: true })
    mkdirSync(out, { recursive: true })
    await cmake(enabled, tree, out, targets)
  }
  if (!existsSync(addon) && targets.length === 0) throw new BuildError(`The build left no ${addon}`)
  if (tree.pinned && existsSync(addon) && targets.length === 0) writeFileSync(stampPath, stamp(enabled))
  return out
}

async function cmake(
  enabled: ReadonlySet<Switch>,
  tree: LlamaTree,
  out: string,
  targets: readonly string[],
): Promise<void> {
  const definitions: Record<string, string> = {
    OI_LLAMA_DIR: tree.dir,
    OI_LLAMA_COMMIT: tree.commit.slice(0, 12),
    OI_NODE_ADDON_API_DIR: dirname(require.resolve('node-addon-api/package.json')),
  }
  for (const name of Object.keys(switches) as Switch[]) {
    definitions[switches[name]] = enabled.has(name) ? 'ON' : 'OFF'
  }
  const env: NodeJS.ProcessEnv = { ...process.env, NINJA_STATUS: '[%f/%t %es] ' }
  if (probe('ccache')) {
    definitions['CMAKE_C_COMPILER_LAUNCHER'] = 'ccache'
    definitions['CMAKE_CXX_COMPILER_LAUNCHER'] = 'ccache'
    // Paths under the project become relative, so that every checkout shares one cache.
    env['CCACHE_BASEDIR'] ??= root
    env['CCACHE_NOHASHDIR'] ??= '1'
  }
  const common = ['--directory', root, '--out', out, '--config', 'Release', '--log-level', 'warn']
  const args = Object.entries(definitions).map(([key, value]) => `--CD${key}=${value}`)
  const parallel = String(availableParallelism())
  const cmakeJs = (...command: string[]) =>
    run(process.execPath, [require.resolve('cmake-js/bin/cmake-js'), ...command, ...common, ...args], {
      cwd: root,
      env,
    })
  // `build` alone would trust any CMakeCache.txt, also that of a configure that was cut off.
  await cmakeJs('configure')
  for (const target of targets.length ? targets : ['oi']) {
    await cmakeJs('build', '--target', target, '--parallel', parallel)
  }
}

/** What the addon is made from, as one hash: our sources, the pin, the switches, Node-API. */
function stamp(enabled: ReadonlySet<Switch>): string {
  const hash = createHash('sha256')
  const add = (path: string) => hash.update(path.slice(root.length)).update(readFileSync(path))
  for (const path of files(join(root, 'native'))) add(path)
  for (const path of ['CMakeLists.txt', 'dist/scripts/build/vendor.js', 'dist/scripts/build/native.js']) {
    add(join(root, path))
  }
  hash.update(readFileSync(require.resolve('node-addon-api/package.json')))
  hash.update(readFileSync(require.resolve('cmake-js/package.json')))
  hash.update(JSON.stringify([[...enabled].sort(), process.arch, process.platform, process.env['CXX']]))
  return hash.digest('hex')
}

function read(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function files(dir: string): string[] {
  return readdirSync(dir)
    .sort()
    .map((name) => join(dir, name))
    .flatMap((path) => (statSync(path).isDirectory() ? files(path) : [path]))
}
