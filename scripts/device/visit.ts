/**
 * `npm run device:visit`: what is to be measured on a GPU that is lent for minutes, in the order of
 * its worth. Each part is saved when it ends, and none begins after the time is over.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildDir, buildNative } from '../build/native.js'
import { runCommand, wholeNumber } from '../command.js'
import { ensureModel } from '../make-model/ensure.js'

const usage = `Usage: npm run device:visit -- [options]

  --minutes N      for all of it (default 12)
  --out FOLDER     where results go (default build/device/visit)
  --rehearse       the same on any machine, with a small model and small sizes

Measures with the addon in OI_ADDON, or builds one for CUDA. Exit code: 0 if all parts ended well.`

interface Part {
  readonly model: readonly [name: string, type: string]
  /** Of the layer `device`: rows with this in their name. */
  readonly rows: string
  readonly rounds: number
}

const parts: readonly Part[] = [
  { model: ['qwen3-4b', 'BF16'], rows: '64 clients', rounds: 3 },
  { model: ['qwen3-4b', 'BF16'], rows: 'questions, long state', rounds: 3 },
  { model: ['qwen3-4b', 'BF16'], rows: 'prompt', rounds: 2 },
  { model: ['qwen3-0.6b', 'BF16'], rows: 'one question', rounds: 3 },
  { model: ['qwen3-4b', 'Q4_0'], rows: 'prompt', rounds: 2 },
  { model: ['qwen3-4b', 'Q8_0'], rows: 'prompt', rounds: 2 },
  { model: ['qwen3-4b', 'Q4_K_M'], rows: 'prompt', rounds: 2 },
  { model: ['qwen3-4b', 'Q4_0'], rows: '64 clients', rounds: 2 },
  { model: ['qwen3-0.6b', 'BF16'], rows: '64 clients', rounds: 2 },
  { model: ['qwen3-4b', 'BF16'], rows: 'sharing', rounds: 2 },
]

await runCommand(usage, main)

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '12' },
      out: { type: 'string', default: 'build/device/visit' },
      rehearse: { type: 'boolean', default: false },
    },
  })
  const end = performance.now() + wholeNumber('minutes', values.minutes, 1) * 60_000
  mkdirSync(values.out, { recursive: true })
  if (process.env['OI_ADDON'] === undefined && !values.rehearse) {
    const switches = new Set(['cuda'] as const)
    await buildNative(switches, ['oi'])
    process.env['OI_ADDON'] = join(buildDir(switches), 'oi.node')
  }
  let failed = 0
  const run = (name: string, args: readonly string[]) => {
    const left = end - performance.now()
    const start = performance.now()
    const { status, signal } =
      left > 0
        ? spawnSync(process.execPath, args, { stdio: 'inherit', timeout: Math.ceil(left) })
        : { status: null, signal: 'no time left' }
    const seconds = ((performance.now() - start) / 1000).toFixed(0)
    if (status !== 0) failed += 1
    console.log(`${status === 0 ? 'ok' : 'not ok'} - ${name}, ${signal ?? `${seconds} s`}`)
  }
  for (const [i, { model, rows, rounds }] of parts.entries()) {
    const [shape, type] = values.rehearse ? ['fixture-28-layers', 'BF16'] : model
    const file = performance.now() < end ? await ensureModel(shape, { type }) : shape
    run(`${shape} ${type}: ${rows}`, [
      ...['dist/scripts/bench/main.js', 'device', '--model', file, '--only', rows],
      ...['--rounds', String(rounds), '--retries', '0', '--unsaved'],
      ...['--json', join(values.out, `${i}-${model.join('-')}.json`)],
      ...(values.rehearse ? ['--quick'] : []),
    ])
  }
  run('the addon on the device', ['dist/test/device/device.test.js'])
  return failed === 0 ? 0 : 1
}
