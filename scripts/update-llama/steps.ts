/**
 * The checks of another llama.cpp.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'
import { pinnedHeaders } from '../build/pin.js'
import { changedHeaders, privateHeaders } from '../build/private-headers.js'
import { median } from '../bench/stats.js'
import { type Outcome, outcomeOf } from '../outcome.js'
import type { Result } from './report.js'
import { type Tree, workshopDir } from './workshop.js'

export interface Step {
  readonly name: string
  /** Steps that must pass before this one. */
  readonly needs?: readonly string[]
  readonly run: (tree: Tree) => Promise<Omit<Result, 'name'>>
}

const [fit, built] = ['ggml’s private headers are those of the pin', 'it compiles and links']
/** Lines of output that a report shows at most. */
const mostLines = 20

/** Private headers that our kernels include: unchanged since the kernels were written. */
export const headers: Step = {
  name: fit,
  run: ({ dir, acceptsHeaders }) => {
    const found = privateHeaders(dir)
    const changed = changedHeaders(dir)
    return Promise.resolve({
      verdict: changed.length === 0 || acceptsHeaders ? 'passes' : 'refused',
      lines: changed.map((path) => `${path}: ${difference(found.get(path), pinnedHeaders[path])}`),
    })
  },
}

function difference(found: string | undefined, pinned: string | undefined): string {
  if (found === undefined) return 'is not there'
  return pinned === undefined ? 'is new' : 'has changed'
}

/** Where operations keep their parameters. Compiled alone, as it needs only ggml's base. */
export const slots: Step = {
  name: 'parameters of operations are in the slots that our kernels read',
  run: async () => {
    const compiled = await build(['oi-op-params'])
    if (compiled.status !== 0) return { verdict: 'refused', lines: errorsIn(compiled.output) }
    const { status, output } = await capture(join(workshopDir, 'build/default/oi-op-params'), [])
    const wrong = output.split('\n').filter((line) => line.startsWith('not ok'))
    return { verdict: status === 0 ? 'passes' : 'refused', lines: wrong }
  },
}

export const nativeBuild: Step = {
  name: built,
  run: async ({ dir, acceptsHeaders }) => {
    const kernels = acceptsHeaders || changedHeaders(dir).length === 0 ? ['oi-kernel-test'] : []
    const targets = ['oi', 'oi-make-model', 'oi-reference', 'oi-pooled', ...kernels]
    const { status, output } = await build(targets)
    return { verdict: status === 0 ? 'passes' : 'refused', lines: errorsIn(output) }
  },
}

export const kernels: Step = {
  name: 'our CPU kernels are as exact as before',
  needs: [fit, built],
  run: () => runTests(['kernels.test.js']),
}

/** Those that compare with programs of llama.cpp alone. */
const parityTests = ['parity', 'rank', 'classes', 'similarity'].map((name) => `${name}.test.js`)

export const parity: Step = {
  name: 'answers are llama.cpp’s own',
  needs: [built],
  run: () => runTests(parityTests),
}

export const suite: Step = {
  name: 'the other tests of test/native',
  needs: [built],
  run: () =>
    runTests(
      readdirSync(join(workshopDir, 'dist/test/native'))
        .filter((name) => name.endsWith('.test.js'))
        .filter((name) => !['kernels.test.js', ...parityTests].includes(name)),
    ),
}

/** Its speed beside the pinned one, in turn. */
export const pace: Step = {
  name: 'as fast as the pinned one',
  needs: [built],
  run: async () => {
    const ratios: number[] = []
    for (let round = 0; round < 7; round++) {
      const [before, after] = [await tokensPerSecond(root), await tokensPerSecond(workshopDir)]
      // The first run fills the file cache.
      if (round > 0) ratios.push(after / before)
    }
    const ratio = median(ratios)
    const text = ratios.map((one) => one.toFixed(2)).join(', ')
    return {
      verdict: ratio > 0.95 ? 'passes' : 'refused',
      lines: [`${ratio.toFixed(2)} times the tokens per second, median of ${text}`],
    }
  },
}

async function tokensPerSecond(folder: string): Promise<number> {
  const script = join(folder, 'dist/scripts/update-llama/pace.js')
  const { status, output } = await capture(process.execPath, [script], folder)
  if (status !== 0) throw new Error(`${script} ended with ${status}: ${output}`)
  return Number(output.trim().split('\n').at(-1))
}

async function runTests(names: readonly string[]): Promise<Omit<Result, 'name'>> {
  const failed: string[] = []
  for (const name of names) {
    const file = join('dist/test/native', name)
    const { status, output } = await inWorkshop(file, [])
    if (status === 0) continue
    const lines = output.split('\n').filter((line) => /^\s*not ok/.test(line))
    failed.push(
      ...(lines.length > 0 ? lines : [`${name} ended with ${status}`]).map((line) => line.trim()),
    )
  }
  return {
    verdict: failed.length === 0 ? 'passes' : 'refused',
    lines: failed.length === 0 ? [`${names.length} of test/native`] : failed.slice(0, mostLines),
  }
}

/** Complaints of compilers, linker and CMake. */
function errorsIn(output: string): string[] {
  const lines = output
    .split('\n')
    .filter((line) => /\berror\b|undefined reference|CMake Error/i.test(line))
    // cmake-js's own message, without a reason.
    .filter((line) => !line.includes('ERROR OMG'))
  return [...new Set(lines.map((line) => line.replaceAll(`${workshopDir}/`, '').trim()))].slice(
    0,
    mostLines,
  )
}

const build = (targets: readonly string[]) =>
  inWorkshop('dist/scripts/build-targets.js', ['default', targets.join()])

function inWorkshop(script: string, args: readonly string[]) {
  const node = ['--enable-source-maps', script, ...args]
  return capture(process.execPath, node, workshopDir)
}

/** Shows a program's output, and keeps it. */
function capture(command: string, args: readonly string[], cwd = workshopDir): Promise<Outcome> {
  // With tap's timeout for a whole file.
  const env = { ...process.env, TAP_TIMEOUT: '3600' }
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  return outcomeOf(child, (text) => process.stderr.write(text))
}
