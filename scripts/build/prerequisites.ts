/**
 * What a build needs of the system: packages, with the line that installs what is missing; and a
 * folder that it may write in.
 *
 * @module
 */

import { accessSync, constants } from 'node:fs'
import { root } from './paths.js'
import { BuildError, probe } from './run.js'

interface Tool {
  readonly name: string
  /** Any one of these programs will do. */
  readonly commands: readonly string[]
  /** Its package for apt, dnf, apk and brew. */
  readonly packages: readonly [string, string, string, string]
}

const tools: readonly Tool[] = [
  {
    name: 'a C++ compiler',
    commands: [process.env['CXX'] ?? 'c++', 'g++', 'clang++'],
    packages: ['g++', 'gcc-c++', 'g++', 'gcc'],
  },
  { name: 'CMake', commands: ['cmake'], packages: ['cmake', 'cmake', 'cmake', 'cmake'] },
  { name: 'git', commands: ['git'], packages: ['git', 'git', 'git', 'git'] },
  {
    name: 'Ninja or make',
    commands: ['ninja', 'make'],
    packages: ['ninja-build', 'ninja-build', 'ninja', 'ninja'],
  },
]

/** Of Debian alone: others name its libraries otherwise. */
const crossCompiler: Tool = {
  name: "Debian's cross compiler for arm64",
  commands: ['aarch64-linux-gnu-g++'],
  packages: ['g++-aarch64-linux-gnu', '', '', ''],
}

const managers = [
  { probe: 'apt-get', install: 'sudo apt-get install -y' },
  { probe: 'dnf', install: 'sudo dnf install -y' },
  { probe: 'apk', install: 'sudo apk add' },
  { probe: 'brew', install: 'brew install' },
] as const

/**
 * @param crossing - Whether Linux on arm64 is compiled for, elsewhere.
 * @throws {@link BuildError} naming every missing tool and one line that installs them, or the
 *   folder; or on Windows.
 */
export function checkPrerequisites(crossing = false): void {
  if (process.platform === 'win32') {
    throw new BuildError('Windows is not supported: install and build in WSL 2.')
  }
  checkFolder()
  const needed = crossing ? [...tools, crossCompiler] : tools
  const missing = needed.filter((tool) => !tool.commands.some((command) => probe(command)))
  if (missing.length === 0) return
  const found = managers.findIndex((manager) => probe(manager.probe))
  const index = found === -1 ? 0 : found
  const packages = missing.map((tool) => tool.packages[index]).join(' ')
  throw new BuildError(
    `Missing: ${missing.map((tool) => tool.name).join(', ')}.\n` +
      `Install with:\n\n  ${managers[index]!.install} ${packages}\n`,
  )
}

/** Somebody else may have installed the package, or it lies on a disk that is read-only. */
function checkFolder(): void {
  try {
    accessSync(root, constants.W_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new BuildError(
      `Cannot write in ${root}, where the addon is compiled (${code}). Run this as the user who owns it.`,
    )
  }
}
