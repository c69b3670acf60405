/**
 * The package of linux-arm64, compiled here and run on a processor that qemu emulates: whether its
 * answers equal this machine's. Its speed is not measured.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BuildError, probe, run } from '../build/run.js'
import { example } from '../../src/api/example.js'
import { markdownTable } from '../markdown.js'
import { project as own } from '../package/manifests.js'
import { packagesDir, packagesFromFiles } from '../package/packages.js'
import { matrixDir } from './debian.js'
import { nodeRelease } from './nodes.js'

const qemu = 'qemu-aarch64-static'
/** The C and C++ libraries of Debian's cross compiler. */
const libraries = '/usr/aarch64-linux-gnu'

/** Between the processors' probabilities: arithmetic in another order rounds differently. */
const tolerance = 0.01

const program = `import { open } from '${own.name}'
const oi = await open({ threads: 1 })
console.log(JSON.stringify((await oi.decide(${JSON.stringify(example)})).answers))
await oi.close()
`

/** On a processor that lacks instructions of the package. */
const refused = `import { open } from '${own.name}'
await open({ threads: 1 }).catch(({ message }) => console.log(message))
`

interface Arm64 {
  readonly ok: boolean
  /** For the README. */
  readonly text: string
}

/**
 * @param nodeNames - Releases of Node.
 * @throws {@link BuildError} that names what is missing here, or the failed step.
 */
export async function checkArm64(nodeNames: readonly string[]): Promise<Arm64> {
  if (probe(qemu) === undefined || !existsSync(libraries)) {
    const packages = 'qemu-user-static g++-aarch64-linux-gnu'
    throw new BuildError(
      `Missing: an emulator or libraries for arm64.\nInstall with:\n\n  apt-get install ${packages}\n`,
    )
  }
  const here = probabilitiesOf(outputOf([process.execPath, 'app.mjs'], await projectFor('x64')))
  const project = await projectFor('arm64')
  const rows: string[][] = []
  let ok = true
  for (const name of nodeNames) {
    const { version, folder } = await nodeRelease(name, 'arm64')
    console.error(`arm64, Node ${version}`)
    const node = (cpu: string) => [qemu, '-cpu', cpu, '-L', libraries, join(folder, 'bin', 'node')]
    const there = probabilitiesOf(outputOf([...node('max'), 'app.mjs'], project))
    const differences = here.map((value, i) => Math.abs(value - (there[i] ?? NaN)))
    const largest = Math.max(...differences)
    const same = there.length === here.length && largest <= tolerance
    const words = outputOf([...node('cortex-a53'), 'refused.mjs'], project)
    const lacking = /this one lacks (.*)/.exec(words)?.[1]
    ok &&= same && lacking !== undefined
    rows.push([
      version,
      `${same ? 'yes' : 'no'}, ${here.length} probabilities, ${largest.toExponential(1)} apart at most`,
      lacking === undefined ? `no: ${words.trim().split('\n').at(-1)}` : `yes: ${lacking}`,
    ])
  }
  const headings = ['Node', 'Answers as on x64', 'Refuses a processor that lacks']
  return { ok, text: markdownTable(headings, rows) }
}

/** A project with the installed packages, for one processor. */
async function projectFor(cpu: string): Promise<string> {
  const folder = join(matrixDir, 'work', cpu)
  const local = packagesFromFiles(packagesDir)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const dependencies = { [own.name]: local[own.name] }
  const manifest = { name: 'project', private: true, dependencies, overrides: local }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'app.mjs'), program)
  writeFileSync(join(folder, 'refused.mjs'), refused)
  const system = ['--os=linux', `--cpu=${cpu}`, '--libc=glibc']
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error']
  await run('npm', ['install', ...system, ...quiet], { cwd: folder })
  return folder
}

function outputOf([command, ...args]: readonly string[], cwd: string): string {
  const { status, signal, stdout, stderr } = spawnSync(command!, args, { cwd, encoding: 'utf8' })
  if (status === 0) return stdout
  throw new BuildError(`${command} ended with ${status ?? signal}:\n${stderr}`)
}

interface Answer {
  readonly noul?: number
  readonly probabilities?: Readonly<Record<string, number>>
}

/** All probabilities, in their order: the rest of the answers is computed from them. */
function probabilitiesOf(json: string): number[] {
  return Object.values(JSON.parse(json) as Readonly<Record<string, Answer>>).flatMap(
    ({ noul, probabilities }) => [
      ...(noul === undefined ? [] : [noul]),
      ...Object.values(probabilities ?? {}),
    ],
  )
}
