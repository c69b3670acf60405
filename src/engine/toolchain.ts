/**
 * What compiling the addon needs of the system: programs, and the line that installs those that are
 * missing. Asked by whatever compiles it, and by the error of whoever has none.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'

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

/** Besides those, by switches of the build. */
const toolsOf: ReadonlyMap<string, Tool> = new Map([
  [
    'linux-arm64',
    {
      name: "Debian's cross compiler for arm64",
      commands: ['aarch64-linux-gnu-g++'],
      // Of Debian alone: others name its libraries otherwise.
      packages: ['g++-aarch64-linux-gnu', '', '', ''],
    },
  ],
  [
    'cuda',
    {
      name: "NVIDIA's CUDA Toolkit (its nvcc on the PATH, or named by CUDACXX)",
      commands: [process.env['CUDACXX'] ?? 'nvcc'],
      packages: ['', '', '', ''],
    },
  ],
  [
    'hip',
    {
      name: "AMD's ROCm, 6.1 or newer (its hipcc on the PATH or in /opt/rocm)",
      commands: ['hipcc', '/opt/rocm/bin/hipcc'],
      packages: ['', '', '', ''],
    },
  ],
  [
    'vulkan',
    {
      name: "Vulkan's library and compiler of shaders (glslc)",
      commands: ['glslc'],
      packages: [
        'glslc libvulkan-dev spirv-headers',
        'glslc vulkan-loader-devel spirv-headers-devel',
        'shaderc vulkan-loader-dev spirv-headers',
        'shaderc vulkan-loader vulkan-headers spirv-headers',
      ],
    },
  ],
])

interface Manager {
  readonly command: string
  /** Followed by packages, for root. */
  readonly install: string
  /** The same for others. */
  readonly byOthers: string
}

const managers: readonly Manager[] = [
  {
    command: 'apt-get',
    // Root is at home in containers, whose images leave out the lists of packages.
    install: 'apt-get update && apt-get install -y',
    byOthers: 'sudo apt-get install -y',
  },
  { command: 'dnf', install: 'dnf install -y', byOthers: 'sudo dnf install -y' },
  { command: 'apk', install: 'apk add', byOthers: 'sudo apk add' },
  { command: 'brew', install: 'brew install', byOthers: 'brew install' },
]

/** What is not there. */
export interface Missing {
  /** In words, with commas between. */
  readonly names: string
  /** The command line that installs it, by the package manager that is there; '' if none can. */
  readonly install: string
}

/**
 * @param switches - Of the build, without dashes.
 * @returns Undefined if nothing is missing, or if this process may start no others to find out.
 */
export function missingTools(switches: Iterable<string> = []): Missing | undefined {
  try {
    const needed = [...tools, ...[...switches].flatMap((name) => toolsOf.get(name) ?? [])]
    const missing = needed.filter(({ commands }) => !commands.some(runs))
    if (missing.length === 0) return undefined
    const index = Math.max(
      0,
      managers.findIndex(({ command }) => runs(command)),
    )
    const { install, byOthers } = managers[index]!
    const packages = missing.map((tool) => tool.packages[index]).filter((name) => name !== '')
    const command = process.getuid?.() === 0 ? install : byOthers
    return {
      names: missing.map(({ name }) => name).join(', '),
      install: packages.length === 0 ? '' : `${command} ${packages.join(' ')}`,
    }
  } catch (error) {
    // Of Node's permissions.
    if ((error as NodeJS.ErrnoException).code === 'ERR_ACCESS_DENIED') return undefined
    throw error
  }
}

/** Being there is not enough: macOS has programs of these names that only ask to be installed. */
function runs(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0
}
