/**
 * The programs that compiling the addon needs, and the line that installs the missing ones. Used
 * before a build, and in the error for a missing addon.
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

/** Further tools, by build switch. */
const toolsOf: ReadonlyMap<string, Tool> = new Map([
  [
    'linux-arm64',
    {
      name: "Debian's cross compiler for arm64",
      commands: ['aarch64-linux-gnu-g++'],
      // Debian's only: other systems name its libraries otherwise.
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
  /** The install command for root; packages follow. */
  readonly install: string
  /** The same for other users. */
  readonly byOthers: string
}

const managers: readonly Manager[] = [
  {
    command: 'apt-get',
    // Root usually means a container, whose image leaves out the package lists.
    install: 'apt-get update && apt-get install -y',
    byOthers: 'sudo apt-get install -y',
  },
  { command: 'dnf', install: 'dnf install -y', byOthers: 'sudo dnf install -y' },
  { command: 'apk', install: 'apk add', byOthers: 'sudo apk add' },
  { command: 'brew', install: 'brew install', byOthers: 'brew install' },
]

/** The missing tools. */
export interface Missing {
  /** Their names, with commas between. */
  readonly names: string
  /**
   * The command line that installs them with the system's package manager; '' without a known one.
   */
  readonly install: string
}

/**
 * @param switches - The build's switches, without dashes.
 * @returns Undefined if nothing is missing, or if this process may not start others to find out.
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
    // Refused by Node's permission model.
    if ((error as NodeJS.ErrnoException).code === 'ERR_ACCESS_DENIED') return undefined
    throw error
  }
}

/** Existence is not enough: macOS has programs of these names that only offer to install them. */
function runs(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0
}
