/**
 * `npm run test:sanitize [-- --operations N]`: native code under sanitizers.
 *
 *   - AddressSanitizer (and UndefinedBehaviorSanitizer for our own code): the native tests; the
 *     kernels and random operations on a pipeline without Node, where leaks are counted too.
 *   - ThreadSanitizer: the random operations. Node cannot run under it.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildNative, type Switch } from './build/native.js'
import { root } from './build/paths.js'
import { BuildError } from './build/run.js'
import { buildSanitizedAddon } from './build/sanitize.js'
import { ensureModel } from './make-model/ensure.js'

const suites = ['dist/test/native']
/**
 * Tools, not the addon; what is about readouts, whose code is not native and takes long here; what
 * is about the processes of a server, whose native code the other tests of runners have; and the
 * check of the processor, which runs on one that qemu plays, where no sanitizer does.
 */
const skipped = [
  'processor.test.js',
  ...['make-model.test.js', 'bench-texts.test.js', 'label-fallback.test.js', 'label-table.test.js'],
  ...['calibrate.test.js', 'custom-readout.test.js', 'native-inspect.test.js'],
  ...['hang.test.js', 'pull.test.js', 'replicas.test.js', 'runner-kills.test.js'],
  'runners.test.js',
]
/** ThreadSanitizer is several times slower. */
const operations = { sanitize: 2000, 'sanitize-thread': 800 }

try {
  const { values } = parseArgs({ options: { operations: { type: 'string' } } })
  const wanted = values.operations === undefined ? undefined : Number(values.operations)
  if (wanted !== undefined && !(Number.isSafeInteger(wanted) && wanted > 0)) {
    throw new BuildError('--operations: expected a number above 0')
  }
  const failed = [
    await testAddon(),
    await testKernels(),
    await stress('sanitize', wanted, { ASAN_OPTIONS: 'exitcode=66' }),
    await stress('sanitize-thread', wanted, { TSAN_OPTIONS: 'exitcode=66' }),
  ].filter((ok) => !ok).length
  process.exitCode = failed === 0 ? 0 : 1
} catch (error) {
  console.error(error instanceof BuildError ? error.message : error)
  process.exitCode = 1
}

async function testAddon(): Promise<boolean> {
  const environment = await buildSanitizedAddon()
  const files = suites.flatMap((suite) =>
    readdirSync(join(root, suite))
      .filter((name) => name.endsWith('.test.js') && !skipped.includes(name))
      .map((name) => join(suite, name)),
  )
  return run('npx', ['tap', '--timeout=1800', ...files], environment)
}

/**
 * The kernels' own test, which links llama.cpp but not Node: of the set that this CPU gets, of those
 * for lesser ones, and of all against one another.
 */
async function testKernels(): Promise<boolean> {
  const dir = await buildNative(new Set(['sanitize'] as const), ['oi-kernel-test'])
  const wanted = [[], ['--set', 'avx-vnni'], ['--set', 'avx2'], ['sets']]
  return wanted
    .map((args) => run(join(dir, 'oi-kernel-test'), args, { ASAN_OPTIONS: 'exitcode=66' }))
    .every((ok) => ok)
}

/** Random operations on a pipeline, as one line of the test's output. */
async function stress(
  build: keyof typeof operations & Switch,
  wanted: number | undefined,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const dir = await buildNative(new Set([build]), ['oi-stress'])
  const model = await ensureModel('fixture-small')
  const folder = mkdtempSync(join(tmpdir(), 'oi-stress-'))
  try {
    const args = [model, String(wanted ?? operations[build]), '1', folder]
    const ok = run(join(dir, 'oi-stress'), args, env)
    console.log(`${ok ? 'ok' : 'not ok'} - random operations, build ${build}`)
    return ok
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): boolean {
  const { status } = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  })
  return status === 0
}
