/**
 * Debian systems in folders, made by debootstrap, and programs that run in them.
 *
 * A program sees this project's build folder at the same path as outside, and this machine's
 * network, because packages are fetched.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'
import { BuildError, probe, run } from '../build/run.js'
import { type Outcome, outcomeOf, type Program } from '../outcome.js'

/** This machine's files that programs in a system see: the packages, and the following. */
const shared = join(root, 'build')

/** Made for the matrix and kept for its next run. */
export const matrixDir = join(shared, 'matrix')

/** The available releases, by number. */
export const releases: Readonly<Record<string, string>> = { 12: 'bookworm', 13: 'trixie' }

/** Where a program runs. */
export interface Place {
  readonly folder: string
  /** Searched for programs before the system's own folders. */
  readonly path: string
}

/** Mounts a program's files in a mount namespace that ends with it, and becomes the program. */
const enter = `set -e
tree=$1 shared=$2 folder=$3
shift 3
bind() { mkdir -p "$(dirname "$tree$2")"; [ -e "$tree$2" ] || touch "$tree$2"; mount --bind "$1" "$tree$2"; }
mkdir -p "$tree$shared"
mount --bind "$shared" "$tree$shared"
for name in proc dev; do mount --rbind "/$name" "$tree/$name"; done
for file in /etc/resolv.conf /etc/hosts "$npm_config_userconfig"; do
  [ -z "$file" ] || [ ! -f "$file" ] || bind "$file" "$file"
done
# At another path: Debian's own certificates may be installed at that one.
for name in NODE_EXTRA_CA_CERTS npm_config_cafile; do
  eval "file=\\$$name"
  [ -f "$file" ] || continue
  bind "$file" "/run/$name"
  export "$name=/run/$name"
done
exec chroot "$tree" env -C "$folder" "$@"`

export class DebianTree {
  /** Makes the system, unless it exists. @param release - Its number. @throws {@link BuildError} */
  static async make(release: string): Promise<DebianTree> {
    const folder = join(matrixDir, `debian-${release}`)
    if (!existsSync(folder)) {
      checkMeans()
      const unfinished = `${folder}.unfinished`
      rmSync(unfinished, { recursive: true, force: true })
      console.error(`Debian ${release} is made in ${folder}`)
      // The binary of Node 26 needs this library.
      const args = ['--variant=minbase', '--include=libatomic1', releases[release]!, unfinished]
      await run('debootstrap', args, { quiet: true })
      renameSync(unfinished, folder)
    }
    return new DebianTree(folder)
  }

  /** As `12.11`. */
  readonly version: string
  readonly #folder: string

  private constructor(folder: string) {
    this.version = readFileSync(join(folder, 'etc', 'debian_version'), 'utf8').trim()
    this.#folder = folder
  }

  /** Copies it, for programs that change it. @param folder - Must not exist. */
  async copyTo(folder: string): Promise<DebianTree> {
    await run('cp', ['--archive', this.#folder, folder])
    // As in images of containers: waiting for the disk after each file takes minutes.
    writeFileSync(join(folder, 'etc', 'dpkg', 'dpkg.cfg.d', 'unsafe-io'), 'force-unsafe-io\n')
    return new DebianTree(folder)
  }

  /** Starts a program; it gets its own signals. */
  start({ folder, path }: Place, command: readonly string[]): Program {
    const env: NodeJS.ProcessEnv = { ...process.env }
    for (const name of Object.keys(env)) {
      if (/^(?:OI_|(?:NODE_OPTIONS|LLAMA_CPP_DIR)$)/.test(name)) delete env[name]
    }
    env['PATH'] = `${path}:/usr/sbin:/usr/bin:/sbin:/bin`
    env['HOME'] = '/root'
    const args = ['--mount', 'sh', '-c', enter, 'sh', this.#folder, shared, folder, ...command]
    return spawn('unshare', args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  }

  /** Runs a program to its end. */
  async run(place: Place, command: readonly string[]): Promise<Outcome> {
    return outcomeOf(this.start(place, command))
  }
}

/**
 * @throws {@link BuildError} naming the programs that systems in folders need and this one lacks.
 */
export function checkMeans(): void {
  if (process.getuid?.() !== 0) {
    throw new BuildError('The matrix mounts and changes roots, which needs root: use sudo.')
  }
  if (probe('debootstrap') === undefined) {
    throw new BuildError('Missing: debootstrap.\nInstall with:\n\n  apt-get install debootstrap\n')
  }
}
