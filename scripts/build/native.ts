/**
 * Compiles the addon and the tools, or finds that they are up to date.
 *
 * Every set of switches has its own build folder, so that changing between them never rebuilds. A
 * stamp per target, written last, records its sources; a target without a stamp is built again. If
 * the addon fails, the folder is wiped and the build tried once more, so that a build that was
 * interrupted at any point repairs itself.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { dirname, join, sep } from 'node:path'
import { checkPrerequisites } from './prerequisites.js'
import { root } from './paths.js'
import { pin } from './pin.js'
import { changedHeaders } from './private-headers.js'
import { BuildError, BuildStopped, probe, run } from './run.js'
import { llamaTree, type LlamaTree } from './vendor.js'

/** Switches of the build and the CMake options they turn on. */
export const switches = {
  cuda: 'OI_CUDA',
  vulkan: 'OI_VULKAN',
  metal: 'OI_METAL',
  hip: 'OI_HIP',
  rpc: 'OI_RPC',
  portable: 'OI_PORTABLE',
  'linux-arm64': 'OI_LINUX_ARM64',
  sanitize: 'OI_SANITIZE',
  'sanitize-thread': 'OI_SANITIZE_THREAD',
} as const

export type Switch = keyof typeof switches

/** Options of a build besides its switches. */
interface BuildOptions {
  /** In CMake's form: `80`, `90`, `120a`. Default: this machine's GPUs, else all major ones. */
  readonly cudaArchitectures?: readonly string[]
  /** Does not retry a failed build from an empty folder. */
  readonly once?: boolean
}

type Uses = (folder: string) => boolean

function only(...folders: readonly string[]): Uses {
  return (folder) => folders.includes(folder)
}

function allBut(...folders: readonly string[]): Uses {
  return (folder) => !folders.includes(folder)
}

const kernels = ['kernels', 'threads', 'machine', 'compat', 'processor']

/**
 * The targets with stamps, and which folders under `native/` are parts of them; llama.cpp's own
 * targets always go to CMake.
 */
const stampedTargets: Readonly<Record<string, Uses>> = {
  oi: allBut('tools', 'stress'),
  'oi-stress': allBut('binding', 'tools'),
  'oi-threads-test': only('threads', 'machine', 'compat', 'processor'),
  'oi-kernel-test': only(...kernels),
  'oi-kernel-bench': only(...kernels),
  'oi-rate-test': only('engine', 'processor'),
  'oi-layers-test': only('engine', ...kernels),
  'oi-op-params': only('kernels', 'processor'),
  'oi-reference': only('tools', 'processor'),
  'oi-make-model': only('tools', 'processor'),
}

/** A target's file in the build folder. */
const productOf = (target: string) => (target === 'oi' ? 'oi.node' : target)

const require = createRequire(import.meta.url)

/** As in `package.json`. */
export const cmakeJsPackage = 'cmake-js@8.0.0'

/** The folder of a build: `build/default`, or the switches joined, as `build/cuda-portable`. */
export function buildDir(enabled: ReadonlySet<Switch>): string {
  const name = [...enabled].sort().join('-')
  return join(root, 'build', name === '' ? 'default' : name)
}

/**
 * Builds `targets` (by default the addon), unless they are up to date.
 *
 * @returns The build folder; the addon in it is `oi.node`, a tool is named like its target.
 * @throws {@link BuildError} with the missing tool or the failure.
 */
export async function buildNative(
  enabled: ReadonlySet<Switch>,
  targets: readonly string[] = ['oi'],
  { cudaArchitectures = [], once = false }: BuildOptions = {},
): Promise<string> {
  const out = buildDir(enabled)
  const made = { enabled, cudaArchitectures }
  const stale = targets.filter((target) => !isCurrent(made, out, target))
  if (stale.length === 0) return out

  checkPrerequisites(enabled)
  const tree = await llamaTree()
  mkdirSync(out, { recursive: true })
  for (const target of stale) rmSync(stampPath(out, target), { force: true })
  const names = stale.map((target) => (target === 'oi' ? 'the addon' : target))
  console.log(`Building ${names.join(', ')} in ${out}`)
  // Of the sources as they are now: one may be edited while others are compiled.
  const stamps = stale.map((target) => {
    const known = stampedTargets[target]
    return known && stamp(made, known)
  })
  try {
    await cmake(made, tree, out, stale)
  } catch (error) {
    if (error instanceof BuildStopped) throw error
    // Wiping the folder for a tool would cost a good addon, which takes minutes to build.
    const spared = !stale.includes('oi') && existsSync(stampPath(out, 'oi'))
    if (once || spared || !existsSync(join(out, 'CMakeCache.txt'))) throw error
    console.log('The build failed; trying once more from an empty folder.')
    rmSync(out, { recursive: true, force: true })
    mkdirSync(out, { recursive: true })
    await cmake(made, tree, out, stale)
  }
  for (const [i, target] of stale.entries()) {
    const known = stampedTargets[target]
    if (!known) continue
    const product = join(out, productOf(target))
    if (!existsSync(product)) throw new BuildError(`The build left no ${product}`)
    if (tree.pinned) writeFileSync(stampPath(out, target), stamps[i]!)
  }
  return out
}

interface Made {
  readonly enabled: ReadonlySet<Switch>
  readonly cudaArchitectures: readonly string[]
}

function isCurrent(made: Made, out: string, target: string): boolean {
  const known = stampedTargets[target]
  // A stamp is valid for the pinned tree only; another checkout may have changed.
  if (!known || process.env['LLAMA_CPP_DIR']) return false
  const isThere = existsSync(join(out, productOf(target)))
  return isThere && read(stampPath(out, target)) === stamp(made, known)
}

function stampPath(out: string, target: string): string {
  return join(out, target === 'oi' ? 'stamp.json' : `stamp-${target}.json`)
}

async function cmake(
  { enabled, cudaArchitectures }: Made,
  tree: LlamaTree,
  out: string,
  targets: readonly string[],
): Promise<void> {
  const definitions: Record<string, string> = {
    OI_LLAMA_DIR: tree.dir,
    OI_LLAMA_COMMIT: tree.commit.slice(0, 12),
    OI_LLAMA_PINNED: tree.commit === pin.commit && !pin.onTrial ? 'ON' : 'OFF',
    // cmake-js drops empty definitions: the cached value would stay.
    OI_CUDA_ARCHITECTURES: cudaArchitectures.join(';') || 'OFF',
    OI_CHANGED_HEADERS: changedHeaders(tree.dir).join(',') || 'none',
    OI_NODE_ADDON_API_DIR: dirname(require.resolve('node-addon-api/package.json')),
  }
  for (const name of Object.keys(switches) as Switch[]) {
    definitions[switches[name]] = isOn(name, enabled) ? 'ON' : 'OFF'
  }
  const env: NodeJS.ProcessEnv = { ...process.env, NINJA_STATUS: '[%f/%t %es] ' }
  if (probe('ccache')) {
    for (const language of ['C', 'CXX', ...(enabled.has('cuda') ? ['CUDA'] : [])]) {
      definitions[`CMAKE_${language}_COMPILER_LAUNCHER`] = 'ccache'
    }
    // Paths under the project become relative, so that every checkout shares one cache.
    env['CCACHE_BASEDIR'] ??= root
    env['CCACHE_NOHASHDIR'] ??= '1'
  }
  const common = ['--directory', root, '--out', out, '--config', 'Release', '--log-level', 'warn']
  const args = Object.entries(definitions).map(([key, value]) => `--CD${key}=${value}`)
  const parallel = String(availableParallelism())
  const program = await cmakeJsProgram(out)
  const cmakeJs = (...command: string[]) =>
    run(process.execPath, [program, ...command, ...common, ...args], { cwd: root, env })
  // `build` alone would trust any CMakeCache.txt, also that of an interrupted configure.
  await cmakeJs('configure')
  for (const target of targets) {
    await cmakeJs('build', '--target', target, '--parallel', parallel)
  }
}

/**
 * A checkout has it. An installed package, most of which are never compiled, gets it and the 32
 * packages that it needs for the time of the build.
 */
async function cmakeJsProgram(out: string): Promise<string> {
  try {
    return require.resolve('cmake-js/bin/cmake-js')
  } catch {
    const folder = join(out, 'cmake-js')
    const install = ['install', '--prefix', folder, '--no-save', '--ignore-scripts']
    await run('npm', [...install, '--loglevel', 'error', cmakeJsPackage], { cwd: out })
    return join(folder, 'node_modules/cmake-js/bin/cmake-js')
  }
}

/** Every Mac with an Apple processor has a GPU for Metal. */
function isOn(name: Switch, enabled: ReadonlySet<Switch>): boolean {
  const apple = process.platform === 'darwin' && process.arch === 'arm64'
  return enabled.has(name) || (name === 'metal' && apple && !enabled.has('linux-arm64'))
}

/** One hash of a target's inputs: our sources, the pin, the switches, Node-API. */
function stamp({ enabled, cudaArchitectures }: Made, uses: Uses): string {
  const hash = createHash('sha256')
  const add = (path: string) => hash.update(path.slice(root.length)).update(readFileSync(path))
  for (const path of files(join(root, 'native'))) {
    const [folder, ...below] = path.slice(join(root, 'native/').length).split(sep)
    if (path.endsWith('.md')) continue
    // Files directly in native/ are CMake's, for all targets.
    if (below.length === 0 || uses(folder!)) add(path)
  }
  for (const path of [
    'CMakeLists.txt',
    'dist/scripts/build/pin.js',
    'dist/scripts/build/private-headers.js',
    'dist/scripts/build/vendor.js',
    'dist/scripts/build/native.js',
  ]) {
    add(join(root, path))
  }
  hash.update(readFileSync(require.resolve('node-addon-api/package.json')))
  hash.update(
    JSON.stringify([
      ...[[...enabled].sort(), process.arch, process.platform, process.env['CXX']],
      cudaArchitectures,
    ]),
  )
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
