/**
 * `npm run test:device`: the engine on Vulkan's software device.
 *
 * Makes a Debian 13 once, builds the addon with Vulkan there, and runs the tests that a device can
 * fail: all layers on it, then some. The first build compiles some 1,500 shaders.
 *
 * @module
 */

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildNative, buildDir } from '../build/native.js'
import { BuildError } from '../build/run.js'
import { runCommand, UsageError, wholeNumber } from '../command.js'
import { ensureModel } from '../make-model/ensure.js'
import { makeSystem, runIn, softwareDevice } from './system.js'

/** Files of `test/native`. */
const suites = [
  ...['parity', 'promises', 'caches', 'room', 'window', 'deterministic', 'not-finite'],
  ...['lifetimes', 'engine', 'vision', 'runners', 'isolated'],
]
/** Files that are run again with some layers on the device. */
const partial = ['parity', 'promises', 'caches', 'vision']
const fixtures = [
  ...['small', 'dense', 'dense-qwen', 'hybrid', 'mrope', 'llama', 'window', 'experts'],
  ...['oss', 'lfm2', 'vision'],
].map((name) => `fixture-${name}`)
const stressed = ['fixture-small', 'fixture-hybrid', 'fixture-window', 'fixture-experts']
const layers = '2'

interface Part {
  readonly name: string
  readonly run: () => boolean
}

const usage = `Usage: npm run test:device -- [options]

  --operations N   random operations in all (default 20,000)
  --only NAME      only the parts with this in their name

Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage.`

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { operations: { type: 'string', default: '20000' }, only: { type: 'string' } },
  })
  const operations = wholeNumber('operations', values.operations, 1)
  const models = new Map<string, string>()
  const parts = partsOf(operations, models).filter(
    ({ name }) => values.only === undefined || name.includes(values.only),
  )
  if (parts.length === 0) throw new UsageError(`--only: no test has ${values.only} in its name`)
  await makeSystem(softwareDevice)
  // Of the outer system: the references are llama.cpp's on the CPU.
  await buildNative(new Set(), ['oi', 'oi-reference', 'oi-make-model'])
  for (const name of fixtures) models.set(name, await ensureModel(name))
  const build = ['node', 'dist/scripts/build-targets.js', 'vulkan', 'oi,oi-stress']
  if (runIn(build, {}) !== 0) {
    throw new BuildError('The addon was not built with Vulkan.')
  }
  let failed = 0
  for (const { name, run } of parts) {
    const start = performance.now()
    const ok = run()
    if (!ok) failed += 1
    const seconds = ((performance.now() - start) / 1000).toFixed(0)
    console.log(`${ok ? 'ok' : 'not ok'} - ${name}, ${seconds} s`)
  }
  return failed === 0 ? 0 : 1
}

/** @param models - Paths by name, read when a part runs. */
function partsOf(operations: number, models: ReadonlyMap<string, string>): readonly Part[] {
  const build = buildDir(new Set(['vulkan'] as const))
  // F32, like the tolerances: otherwise Vulkan's matmuls round both factors to F16, also F32
  // weights.
  const env = {
    OI_ADDON: join(build, 'oi.node'),
    GGML_VK_VISIBLE_DEVICES: '0',
    GGML_VK_DISABLE_F16: '1',
  }
  const each = Math.ceil(operations / (2 * stressed.length))
  const test = (name: string, file: string, more: Readonly<Record<string, string>> = {}): Part => ({
    name,
    run: () => runIn(['node', '--enable-source-maps', file], { ...env, ...more }) === 0,
  })
  // With tap's timeout for a whole file, which software shaders need.
  const timeout = { TAP_TIMEOUT: '3600' }
  return [
    test('device', 'dist/test/device/device.test.js', timeout),
    test('no GPU', 'dist/test/device/no-gpu.test.js'),
    ...suites.map((name) => test(name, `dist/test/native/${name}.test.js`, timeout)),
    ...partial.map((name) =>
      test(`${name}, some layers`, `dist/test/native/${name}.test.js`, {
        ...timeout,
        OI_TEST_GPU_LAYERS: layers,
      }),
    ),
    ...stressed.flatMap((name) =>
      [{}, { OI_TEST_GPU_LAYERS: layers }].map((more) => ({
        name: `random operations, ${name}${'OI_TEST_GPU_LAYERS' in more ? ', some layers' : ''}`,
        run: () =>
          runIn([join(build, 'oi-stress'), models.get(name)!, String(each)], {
            ...env,
            ...more,
          }) === 0,
      })),
    ),
  ]
}
