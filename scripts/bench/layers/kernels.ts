/**
 * Our own CPU kernels against llama.cpp's, and against the peak of the registers.
 *
 * @module
 */

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildNative } from '../../build/native.js'
import { type Bench, measure, wants } from '../bench.js'
import { Figures, type Goal } from '../figure.js'

const run = promisify(execFile)

/** Share of the register peak that a matmul of 512 columns must reach. */
const goals: Readonly<Record<string, Goal>> = {
  ...Object.fromEntries(
    ['q8_0', 'q4_0', 'q4_1', 'q5_0', 'q5_1', 'iq4_nl', 'iq4_xs', 'mxfp4', 'bf16'].map((type) => [
      type,
      { atLeast: 0.55 },
    ]),
  ),
  ...Object.fromEntries(
    ['q2_K', 'q3_K', 'q4_K', 'q6_K', 'iq2_xxs', 'iq2_xs', 'iq2_s', 'iq3_xxs', 'iq3_s'].map(
      (type) => [type, { atLeast: 0.45 }],
    ),
  ),
}
const types = [...Object.keys(goals), 'q5_K', 'iq1_s', 'iq1_m', 'nvfp4', 'tq2_0', 'f16']
/** Whole groups of columns, and numbers with a remainder: these were slow unnoticed. */
const columns = [1, 2, 3, 4, 7, 13, 16, 25, 64, 512]
/** Rows by length of the matmuls of Qwen3-0.6B. */
const shape = '3072x1024'

/** One line of `oi-kernel-bench`. */
interface Line {
  readonly columns: number
  readonly ours: number
  readonly stock: number
  readonly gain: number
  readonly share: number
  /** By the peak of the vector registers, which is lower than that of tile registers. */
  readonly vector_share: number
}

export async function kernels(bench: Bench): Promise<void> {
  const program = join(await buildNative(new Set(), ['oi-kernel-bench']), 'oi-kernel-bench')
  const { threads } = await bench.model()
  for (const type of types) {
    if (!wants(bench, type)) continue
    const args = [
      ...['--types', type, '--columns', columns.join(','), '--shape', shape],
      ...['--threads', String(threads), '--rounds', '3'],
    ]
    const subject = {
      name: type,
      run: async () => {
        const { stdout } = await run(program, args)
        return Object.fromEntries(stdout.trim().split('\n').flatMap(figuresOf(type)))
      },
    }
    const figures = new Figures('kernels', await measure(bench, [subject]))
    for (const count of columns) {
      const name = nameOf(type, count)
      figures.add(`${name}, ours`, 'Gop/s')
      figures.add(`${name}, llama.cpp`, 'Gop/s')
      figures.add(`${name}, ours by llama.cpp`, '×', { atLeast: 1 })
      figures.add(`${name}, ours by peak`, '×', count === 512 ? goals[type] : undefined)
      figures.add(`${name}, ours by the vector registers' peak`, '×')
    }
    bench.record(figures.all)
  }
}

const nameOf = (type: string, count: number) => `${type} ${shape} by ${count}`

function figuresOf(type: string): (line: string) => [string, number][] {
  return (line) => {
    const result = JSON.parse(line) as Line
    const name = nameOf(type, result.columns)
    return [
      [`${name}, ours`, result.ours / 1e9],
      [`${name}, llama.cpp`, result.stock / 1e9],
      [`${name}, ours by llama.cpp`, result.gain],
      [`${name}, ours by peak`, result.share],
      [`${name}, ours by the vector registers' peak`, result.vector_share],
    ]
  }
}
