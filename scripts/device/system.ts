/**
 * A Debian 13 in a folder, with the packages for building and testing for a kind of GPU. It sees
 * the project at the same path as outside.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'
import { BuildError, probe, run } from '../build/run.js'

/** Made once and kept; remove a folder in it to make that one again. */
const deviceDir = join(root, 'build', 'device')

export interface System {
  /** Its folder. */
  readonly name: string
  /** Packages of Debian, separated by commas. */
  readonly components: string
  readonly packages: readonly string[]
  /** Files of packages that are left out. */
  readonly without: readonly string[]
}

const tools = ['g++', 'cmake', 'ninja-build', 'git', 'ccache', 'libatomic1']

/** Vulkan's software device; the shader compiler of Debian 12 is too old for llama.cpp. */
export const softwareDevice: System = {
  name: 'debian-13',
  components: 'main',
  packages: [
    ...tools,
    ...['glslc', 'libvulkan-dev', 'mesa-vulkan-drivers', 'spirv-headers', 'vulkan-tools'],
  ],
  without: [],
}

/** NVIDIA's toolkit, without the driver on which it depends, and without half of its 6 GB. */
export const cudaToolkit: System = {
  name: 'debian-13-cuda',
  components: 'main,contrib,non-free',
  packages: [...tools, 'nvidia-cuda-toolkit'],
  without: [
    '/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so*',
    // Not that of libcudart, which nvcc links.
    ...['cu[!d]*', 'npp*', 'nv*'].map((name) => `/usr/lib/x86_64-linux-gnu/lib${name}_static*.a`),
  ],
}

/** Becomes a program in the system, in a mount namespace that ends with it. */
const enter = `set -e
tree=$1 project=$2 node=$3
shift 3
mkdir -p "$tree$project"
mount --bind "$project" "$tree$project"
for name in proc dev sys; do mount --rbind "/$name" "$tree/$name"; done
touch "$tree/usr/local/bin/node"
mount --bind "$node" "$tree/usr/local/bin/node"
for name in resolv.conf hosts; do cp "/etc/$name" "$tree/etc/$name"; done
exec chroot "$tree" env -C "$project" "$@"`

/** Makes the system, unless it exists. @throws {@link BuildError} */
export async function makeSystem(system: System): Promise<void> {
  if (process.getuid?.() !== 0) {
    throw new BuildError(
      'The test of devices mounts and changes roots, which needs root: use sudo.',
    )
  }
  const tree = join(deviceDir, system.name)
  if (existsSync(tree)) return
  if (probe('debootstrap') === undefined) {
    throw new BuildError('Missing: debootstrap.\nInstall with:\n\n  apt-get install debootstrap\n')
  }
  const name = `${system.name}.unfinished`
  const unfinished = join(deviceDir, name)
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(deviceDir, { recursive: true })
  console.error(`Debian 13 is made in ${tree}`)
  const components = `--components=${system.components}`
  await run('debootstrap', ['--variant=minbase', components, 'trixie', unfinished], { quiet: true })
  const left = system.without.map((files) => `path-exclude=${files}\n`).join('')
  writeFileSync(join(unfinished, 'etc/dpkg/dpkg.cfg.d/without'), left)
  const install =
    'export DEBIAN_FRONTEND=noninteractive; apt-get update && ' +
    `apt-get install -y --no-install-recommends ${system.packages.join(' ')} && apt-get clean`
  const status = runIn(['sh', '-c', install], {}, name)
  if (status !== 0) throw new BuildError(`Packages were not installed: exit code ${status}`)
  renameSync(unfinished, tree)
}

/**
 * Runs a program in a system, with inherited output.
 *
 * @param system - Its name.
 * @returns Its exit code; -1 if a signal ended it.
 */
export function runIn(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  system = softwareDevice.name,
): number {
  const path = '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  // Threads of the software device, besides those of the engine.
  const threads = process.env['LP_NUM_THREADS']
  const all = {
    ...{ PATH: path, HOME: '/root', CCACHE_DIR: join(deviceDir, 'ccache') },
    ...(threads && { LP_NUM_THREADS: threads }),
    ...env,
  }
  const words = Object.entries(all).map(([name, value]) => `${name}=${value}`)
  const { status, error } = spawnSync(
    'unshare',
    [
      ...['--mount', 'sh', '-c', enter, 'sh', join(deviceDir, system), root, process.execPath],
      ...['-i', ...words, ...command],
    ],
    { stdio: 'inherit' },
  )
  if (error) throw new BuildError(`unshare could not be started: ${error.message}`)
  return status ?? -1
}
