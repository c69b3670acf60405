/**
 * `npm run test:cuda`: the addon for NVIDIA's GPUs, without a GPU and without a driver.
 *
 * Makes a Debian 13 with NVIDIA's toolkit once, and compiles there for three generations of GPUs,
 * which takes hours on few cores and goes on where it was interrupted. Then the addon must hold
 * code for each of them, load, say that it found no GPU, and answer on the CPU.
 *
 * @module
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildDir, buildNative } from '../build/native.js'
import { BuildError } from '../build/run.js'
import { runCommand } from '../command.js'
import { cudaToolkit, makeSystem, runIn } from './system.js'

const architectures = ['80', '86', '90']
const tests = ['device/no-gpu', 'native/engine']

const usage = `Usage: npm run test:cuda

Compiles for the architectures ${architectures.join(', ')}, which takes hours on few cores, and goes on where it
was interrupted. Takes no options.`

await runCommand(usage, main)

async function main(): Promise<number> {
  parseArgs({ options: {} })
  await makeSystem(cudaToolkit)
  // Of the outer system: the models of the tests.
  await buildNative(new Set(), ['oi', 'oi-make-model'])
  const build = ['node', 'dist/scripts/build-targets.js', 'cuda', 'oi', architectures.join(',')]
  if (runIn(build, {}, cudaToolkit.name) !== 0)
    throw new BuildError('The addon was not built for CUDA.')
  const addon = join(buildDir(new Set(['cuda'] as const)), 'oi.node')
  const compiled = compiledFor(addon)
  const wrong = architectures.filter((name) => !compiled.has(`sm_${name}`))
  if (wrong.length > 0) throw new BuildError(`${addon} has no code for ${wrong.join(', ')}`)
  console.log(`ok - code for ${[...compiled].join(', ')}`)
  let failed = 0
  for (const name of tests) {
    const status = runIn(
      ['node', `dist/test/${name}.test.js`],
      { OI_ADDON: addon },
      cudaToolkit.name,
    )
    console.log(`${status === 0 ? 'ok' : 'not ok'} - ${name}`)
    if (status !== 0) failed += 1
  }
  return failed === 0 ? 0 : 1
}

/** The architectures for which it has code, as `sm_90`. */
function compiledFor(addon: string): ReadonlySet<string> {
  const list = `${addon}.code`
  runIn(['sh', '-c', 'cuobjdump --list-elf "$0" >"$1"', addon, list], {}, cudaToolkit.name)
  return new Set(readFileSync(list, 'utf8').match(/sm_\d+a?/g))
}
