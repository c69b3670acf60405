/**
 * Whether answers have the same bits in any company, by random operations (`oi-stress`); and what it
 * costs to ask for that.
 *
 * @module
 */

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildNative } from '../../build/native.js'
import { outcomeOf } from '../../outcome.js'
import { type Bench, wants } from '../bench.js'
import { deterministic } from '../deterministic.js'
import { withVocabulary } from '../engine-load.js'
import type { Figure } from '../figure.js'
import type { ModelFile } from '../model-file.js'
import { Requests } from '../requests.js'

const types = ['Q8_0', 'Q4_K_M', 'BF16', 'F16']

export async function invariance(bench: Bench): Promise<void> {
  const program = join(await buildNative(new Set(), ['oi-stress']), 'oi-stress')
  for (const type of types.filter((type) => wants(bench, type))) {
    const small = await bench.model('fixture-dense-qwen', type)
    bench.record(await compare(bench, program, type, small), small)
    const model = await bench.model('qwen3-0.6b', type)
    const { path: modelPath, threads, kernels } = model
    await withVocabulary(modelPath, async (vocabulary) => {
      const requests = await Requests.create(vocabulary)
      const figures = await deterministic(bench, requests, { modelPath, threads, kernels })
      bench.record(
        figures.all.map((figure) => ({ ...figure, name: `${type}: ${figure.name}` })),
        model,
      )
    })
  }
}

/** @throws If an operation fails otherwise than by other bits. */
async function compare(
  { options, say }: Bench,
  program: string,
  type: string,
  { path }: ModelFile,
): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'oi-invariance-'))
  try {
    const args = [path, String(options.requests), '1', folder, 'same-bits']
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const { output } = await outcomeOf(child, say)
    const [, compared, differing] = /(\d+) answers compared .*, (\d+) differ/.exec(output) ?? []
    if (compared === undefined) throw new Error(`${program} failed:\n${output}`)
    const figure = (name: string, value: string | undefined) => ({
      ...{ layer: 'invariance', name: `${type}: ${name}`, unit: 'answers' },
      ...{ values: [Number(value)], disturbed: 0 },
    })
    return [
      figure('compared with the first of their kind', compared),
      { ...figure('of which a bit differs', differing), goal: { atMost: 0 } },
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
