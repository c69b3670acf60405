/**
 * `npm run test:sanitize [-- --operations N]`: native code under sanitizers.
 *
 *   - AddressSanitizer (and UndefinedBehaviorSanitizer for our own code): the kernels and random
 *     operations on a pipeline without Node, where leaks are counted too; the native tests.
 *   - ThreadSanitizer: the random operations. Node cannot run under it.
 *
 * @module
 */

import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildNative, type Switch } from './build/native.js'
import { root } from './build/paths.js'
import { buildSanitizedAddon } from './build/sanitize.js'
import { runCommand, wholeNumber } from './command.js'
import { ensureModel } from './make-model/ensure.js'
import { outcomeOf } from './outcome.js'

const suite = 'dist/test/native'
/** Of `test/native`: their native code, if any, is in other tests too. */
const skipped: Readonly<Record<string, readonly string[]>> = {
  'tools, not the addon': ['make-model', 'bench-texts', 'label-table', 'layer-weights'],
  'a lack of memory ends a process under a sanitizer': ['memory'],
  'the program of the kernels runs here by itself': ['kernels'],
  'times, and a program that is not built so': ['threads'],
  'an older processor, which qemu plays': ['processor'],
  readouts: [
    ...['calibrate', 'counting', 'custom-readout', 'native-inspect'],
    ...['native-readouts', 'orders', 'pooled-answers'],
  ],
  'commands and processes of a server': [
    ...['cli-models', 'hang', 'library', 'probe', 'pull', 'replicas', 'runner-kills', 'runners'],
  ],
}
/** ThreadSanitizer is several times slower. */
const operations = { sanitize: 2000, 'sanitize-thread': 800 }
/** A program's exit code where a sanitizer found something. */
const environment = { ASAN_OPTIONS: 'exitcode=66', TSAN_OPTIONS: 'exitcode=66' }

interface Program {
  readonly name: string
  readonly path: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const usage = `Usage: npm run test:sanitize [-- --operations N]

  --operations N   random operations of each build (default 2,000; ThreadSanitizer 800)

Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage.`

await runCommand(usage, async () => {
  const { values } = parseArgs({ options: { operations: { type: 'string' } } })
  const { operations: text } = values
  const wanted = text === undefined ? undefined : wholeNumber('operations', text, 1)
  const passed = [await testPrograms(wanted), await testAddon()]
  return passed.every(Boolean) ? 0 : 1
})

/** Programs without Node, most on one thread: as many at once as there are cores. */
async function testPrograms(wanted: number | undefined): Promise<boolean> {
  const address = await buildNative(new Set(['sanitize'] as const), [
    'oi-kernel-test',
    'oi-stress',
    'oi',
  ])
  const thread = await buildNative(new Set(['sanitize-thread'] as const), ['oi-stress'])
  const model = await ensureModel('fixture-small')
  const folder = mkdtempSync(join(tmpdir(), 'oi-stress-'))
  // Half of them with a GPU's plan: steps of few shapes, and ahead.
  const stress = (build: keyof typeof operations & Switch, dir: string): Program[] =>
    ['cpu', 'gpu'].map((plan) => {
      const states = join(folder, `${build}-${plan}`)
      mkdirSync(states, { mode: 0o700 })
      return {
        name: `random operations, build ${build}, plan of a ${plan}`,
        path: join(dir, 'oi-stress'),
        args: [model, String(Math.ceil((wanted ?? operations[build]) / 2)), '1', states],
        env: { OI_TEST_PLAN: plan },
      }
    })
  // The kernels of this CPU's set, of lesser sets, and all against one another.
  const kernels = [[], ['--set', 'avx-vnni'], ['--set', 'avx2'], ['sets']].map((args): Program => ({
    name: ['kernels', ...args].join(' '),
    path: join(address, 'oi-kernel-test'),
    args,
  }))
  const waiting = [...stress('sanitize-thread', thread), ...stress('sanitize', address), ...kernels]
  let ok = true
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      ok = (await passes(next)) && ok
    }
  }
  try {
    await Promise.all(Array.from({ length: availableParallelism() }, lane))
    return ok
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs a program to its end, and then prints its output and, as a line of TAP, its result. */
async function passes({ name, path, args, env: own }: Program): Promise<boolean> {
  const env = { ...process.env, ...environment, ...own }
  const child = spawn(path, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const { status, output } = await outcomeOf(child)
  process.stdout.write(output)
  console.log(status === 0 ? `ok - ${name}` : `not ok - ${name}: ended with ${status}`)
  return status === 0
}

/** The native tests, with the addon in a Node that is not instrumented. */
async function testAddon(): Promise<boolean> {
  const sanitized = await buildSanitizedAddon()
  const left = new Set(Object.values(skipped).flatMap((names) => names.map((n) => `${n}.test.js`)))
  const files = readdirSync(join(root, suite))
    .filter((name) => name.endsWith('.test.js') && !left.has(name))
    .map((name) => join(suite, name))
  const { status } = spawnSync('npx', ['tap', '--timeout=1800', ...files], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...sanitized },
  })
  return status === 0
}
