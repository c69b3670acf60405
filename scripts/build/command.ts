/**
 * The build command: its flags and its failures.
 *
 * @module
 */

import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { buildConsole } from './console.js'
import { buildDir, buildNative, type Switch, switches } from './native.js'
import { root } from './paths.js'
import { BuildError } from './run.js'

/**
 * @param flags - `--clean`, `--cuda-arch` and the {@link switches}.
 * @returns The exit code.
 */
export async function build(flags: string[]): Promise<number> {
  try {
    const names = Object.keys(switches) as Switch[]
    const options: NonNullable<ParseArgsConfig['options']> = { 'cuda-arch': { type: 'string' } }
    for (const name of [...names, 'clean']) options[name] = { type: 'boolean' }
    const { values } = parseArgs({ args: flags, options })
    const cudaArchitectures = readArchitectures(values['cuda-arch'])
    const enabled = new Set(names.filter((name) => values[name]))
    if (values['clean']) rmSync(buildDir(enabled), { recursive: true, force: true })
    if (cudaArchitectures.length > 0 && !enabled.has('cuda')) {
      throw new BuildError('--cuda-arch: expected with --cuda')
    }
    const targets = ['oi', ...(enabled.has('rpc') ? ['ggml-rpc-server'] : [])]
    const dir = await buildNative(enabled, targets, { cudaArchitectures })
    if (installed) leaveProducts(dir, targets.length > 1 ? ['bin'] : [])
    else await buildConsole()
    // Only the build without switches is found by default.
    if (enabled.size > 0) console.log(`To use it: OI_ADDON=${join(dir, 'oi.node')}`)
    return 0
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    // Errors such as a full disk name their cause and place.
    const expected =
      error instanceof BuildError || code?.startsWith('ERR_PARSE_ARGS') || syscall !== undefined
    console.error(expected ? (error as Error).message : error)
    return error instanceof BuildError ? error.exitCode : 1
  }
}

/** @throws {@link BuildError} */
function readArchitectures(text: unknown): readonly string[] {
  if (typeof text !== 'string') return []
  const names = text.split(',')
  if (names.every((name) => /^\d{2,3}[af]?(?:-real|-virtual)?$/.test(name))) return names
  throw new BuildError(`--cuda-arch: expected numbers like 80,90 with commas between, got ${text}`)
}

/** Whether this is an installed package, not a checkout: it is compiled only once. */
const installed = !existsSync(join(root, 'tsconfig.json'))

/** Removes intermediate files of the build, some 250 MB. */
function leaveProducts(dir: string, more: readonly string[]): void {
  for (const name of readdirSync(dir)) {
    if (['oi.node', 'processor.node', 'stamp.json', ...more].includes(name)) continue
    rmSync(join(dir, name), { recursive: true })
  }
  rmSync(join(root, 'vendor'), { recursive: true, force: true })
}
