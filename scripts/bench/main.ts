/**
 * `npm run bench -- LAYER`: the speed of this project, against its goals.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { buildNative } from '../build/native.js'
import { runCommand, UsageError } from '../command.js'
import { isRealModel } from '../fetch-model/real-models.js'
import type { Bench } from './bench.js'
import { ceiling } from './layers/ceiling.js'
import { coherence } from './layers/coherence.js'
import { contention } from './layers/contention.js'
import { device } from './layers/device.js'
import { engine } from './layers/engine.js'
import { fairness } from './layers/fairness.js'
import { front } from './layers/front.js'
import { host } from './layers/host.js'
import { http } from './layers/http.js'
import { invariance } from './layers/invariance.js'
import { kernels } from './layers/kernels.js'
import { loop } from './layers/loop.js'
import { overload } from './layers/overload.js'
import { peer } from './layers/peer.js'
import { prefill } from './layers/prefill.js'
import { runner } from './layers/runner.js'
import { scaling } from './layers/scaling.js'
import { soak } from './layers/soak.js'
import { vllm } from './layers/vllm.js'
import { provenance } from './machine.js'
import { describeModel, ModelFiles } from './model-file.js'
import { type BenchOptions, type LayerName, readOptions, usage } from './options.js'
import { Quiet } from './quiet.js'
import { headOf, Results, resultsDir, tableOf } from './report.js'

const layers: Record<LayerName, (bench: Bench) => Promise<void>> = {
  ceiling,
  kernels,
  prefill,
  engine,
  runner,
  http,
  front,
  peer,
  scaling,
  fairness,
  contention,
  overload,
  loop,
  soak,
  coherence,
  vllm,
  host,
  device,
  invariance,
}

await runCommand(usage, async () => {
  const args = process.argv.slice(2)
  await run(readOptions(args), args)
  return 0
})

async function run(options: BenchOptions, args: readonly string[]): Promise<void> {
  const { model } = options
  if (model !== undefined && !isRealModel(model) && !existsSync(model)) {
    throw new UsageError(`There is no file ${model}: without --model one is made`)
  }
  // At the start: a long run has the date and the sources of its start.
  const origin = provenance(args)
  const say = (line: string) => console.error(line)
  const csvDir = options.save ? resultsDir : undefined
  const results = new Results(origin, { json: options.json, csvDir })
  const models = new ModelFiles(options, say)
  const bench: Bench = {
    options,
    origin,
    quiet: new Quiet(),
    say,
    note: (line) => results.note(line),
    record: (figures, model) =>
      results.add(figures, model === undefined ? 'none' : describeModel(model)),
    model: (shape = 'qwen3-0.6b', type) => models.get(shape, type),
    tools: once(() => toolsOf(options)),
  }
  try {
    for (const layer of options.layers) {
      say(layer)
      await layers[layer](bench)
    }
  } finally {
    // Also the measurements before a failure: they are saved, and may explain it.
    const { figures } = results.report
    if (figures.length > 0) console.log(`${headOf(results.report)}\n${tableOf(figures)}`)
    else say(`Nothing was measured${options.only && `: no row contains "${options.only}"`}`)
  }
}

async function toolsOf({ tools }: BenchOptions): Promise<string> {
  const names = ['llama-bench', 'llama-server']
  const dir = tools ?? join(await buildNative(new Set(), names), 'bin')
  const missing = names.filter((name) => !existsSync(join(dir, name)))
  if (missing.length === 0) return dir
  throw new UsageError(`--tools ${dir}: there is no ${missing.join(' and no ')}`)
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
