/**
 * `oi build`: compiles the addon in the installed package, for this machine.
 *
 * @module
 */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Command } from 'commander'
import { packageRoot } from '../package-root.js'
import type { CommandDependencies } from './exit-codes.js'

/** The exports of the build script, which is not a part of the commands. */
interface BuildScript {
  build(flags: string[]): Promise<number>
}

const flags = {
  cuda: 'for NVIDIA GPUs, whose toolkit must be installed',
  vulkan: 'for Vulkan GPUs',
  metal: 'for Apple GPUs',
  hip: 'for AMD GPUs',
  rpc: 'for models larger than one machine, with other machines as devices',
  portable: 'for every processor of the last ten years instead of this one',
  clean: 'from the beginning',
}

export function addBuildCommand(program: Command, { done }: CommandDependencies): void {
  const command = program
    .command('build')
    .description('compile the native addon, if no package has it for this machine')
    .addHelpText(
      'after',
      '\nNeeds a C++ compiler, CMake, git and Ninja or make, and names what is missing. Takes' +
        '\nsome minutes. A build without a GPU is used from then on; the last line of a build for a GPU' +
        '\nsays how to use it.' +
        '\n\nNo build for a GPU has run on one yet. The build for Vulkan passes its tests on a device in' +
        '\nsoftware. Of the one for CUDA, not all files have been compiled; those for HIP and Metal' +
        '\nnever were.',
    )
  for (const [name, text] of Object.entries(flags)) command.option(`--${name}`, text)
  command.option('--cuda-arch <numbers>', 'with --cuda: for these GPUs, as 80,90')
  command.action(async ({ cudaArch, ...given }: Record<string, boolean | string>) => {
    const script = pathToFileURL(join(packageRoot, 'dist/scripts/build/command.js')).href
    const { build } = (await import(script)) as BuildScript
    const architectures = cudaArch === undefined ? [] : [`--cuda-arch=${cudaArch}`]
    done(await build([...Object.keys(given).map((name) => `--${name}`), ...architectures]))
  })
}
