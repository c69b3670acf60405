/**
 * A Debian 13 in a folder, with Vulkan's software device: Debian 12's compiler of shaders is too old
 * for llama.cpp's. The project is seen there at the path that it has outside.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'
import { BuildError, probe, run } from '../build/run.js'

/** What is made once and kept; remove the folder to make it anew. */
export const deviceDir = join(root, 'build', 'device')
const system = join(deviceDir, 'debian-13')

const packages = [
  ...['g++', 'cmake', 'ninja-build', 'git', 'ccache', 'libatomic1'],
  ...['glslc', 'libvulkan-dev', 'mesa-vulkan-drivers', 'spirv-headers', 'vulkan-tools'],
]

/** Becomes a program in the system, in a namespace of mounts that ends with it. */
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

/** Makes it, unless it is there. @throws {@link BuildError} */
export async function makeSystem(): Promise<void> {
  if (process.getuid?.() !== 0) {
    throw new BuildError(
      'The test of devices mounts and changes roots, which needs root: use sudo.',
    )
  }
  if (existsSync(system)) return
  if (probe('debootstrap') === undefined) {
    throw new BuildError('Missing: debootstrap.\nInstall with:\n\n  apt-get install debootstrap\n')
  }
  const unfinished = `${system}.unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(deviceDir, { recursive: true })
  console.error(`Debian 13 is made in ${system}`)
  await run('debootstrap', ['--variant=minbase', 'trixie', unfinished], { quiet: true })
  const install =
    'export DEBIAN_FRONTEND=noninteractive; apt-get update && ' +
    `apt-get install -y --no-install-recommends ${packages.join(' ')}`
  const status = runIn(['sh', '-c', install], {}, unfinished)
  if (status !== 0) throw new BuildError(`Packages were not installed: exit code ${status}`)
  renameSync(unfinished, system)
}

/**
 * Runs a program in the system, with inherited output.
 *
 * @returns Its exit code; -1 if a signal ended it.
 */
export function runIn(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  tree = system,
): number {
  const path = '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  // How many threads the software device takes, besides those of the engine.
  const threads = process.env['LP_NUM_THREADS']
  const all = {
    ...{ PATH: path, HOME: '/root', CCACHE_DIR: join(deviceDir, 'ccache') },
    ...(threads && { LP_NUM_THREADS: threads }),
    ...env,
  }
  const words = Object.entries(all).map(([name, value]) => `${name}=${value}`)
  const { status, error } = spawnSync(
    'unshare',
    ['--mount', 'sh', '-c', enter, 'sh', tree, root, process.execPath, '-i', ...words, ...command],
    { stdio: 'inherit' },
  )
  if (error) throw new BuildError(`unshare could not be started: ${error.message}`)
  return status ?? -1
}
