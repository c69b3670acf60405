/**
 * `npm run bench -- LAYER`: how fast this project is, against what it must reach.
 *
 * @module
 */

import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { openEngine } from '../../src/engine/engine.js'
import { OiError } from '../../src/errors.js'
import { buildNative } from '../build/native.js'
import { BuildError } from '../build/run.js'
import { ensureModel } from '../make-model/ensure.js'
import type { Bench, ModelFile } from './bench.js'
import type { Figure } from './figure.js'
import { ceiling } from './layers/ceiling.js'
import { engine } from './layers/engine.js'
import { front } from './layers/front.js'
import { http } from './layers/http.js'
import { peer } from './layers/peer.js'
import { provenance } from './machine.js'
import { type BenchOptions, type LayerName, readOptions, usage, UsageError } from './options.js'
import { Quiet } from './quiet.js'
import { appendCsv, headOf, tableOf, writeJson } from './report.js'

const layers: Record<LayerName, (bench: Bench) => Promise<readonly Figure[]>> = {
  ceiling,
  engine,
  http,
  front,
  peer,
}

const shape = 'qwen3-0.6b'

try {
  const args = process.argv.slice(2)
  const options = readOptions(args)
  if (options === 'help') console.log(usage)
  else await run(options, args)
} catch (error) {
  if (error instanceof UsageError) {
    console.error(`${error.message}\n\n${usage}`)
    process.exitCode = 2
  } else {
    const expected = error instanceof BuildError || error instanceof OiError
    console.error(expected ? error.message : error)
    process.exitCode = 1
  }
}

async function run(options: BenchOptions, args: readonly string[]): Promise<void> {
  if (options.model !== undefined && !existsSync(options.model)) {
    throw new UsageError(`There is no file ${options.model}: without --model one is made`)
  }
  // At the start: a long run is dated by it, and by the sources that it runs.
  const origin = provenance(args)
  const say = (line: string) => console.error(line)
  const notes: string[] = []
  const bench: Bench = {
    options,
    quiet: new Quiet(),
    say,
    note: (line) => notes.push(line),
    model: once(() => modelOf(options, say)),
    tools: once(() => toolsOf(options)),
  }
  const figures: Figure[] = []
  for (const layer of options.layers) {
    say(layer)
    figures.push(...(await layers[layer](bench)))
  }

  const needsModel = options.layers.some((layer) => layer !== 'front')
  const model = needsModel ? describe(await bench.model()) : 'none'
  const report = { provenance: origin, model, figures, notes }
  console.log(`${headOf(report)}\n${tableOf(figures)}`)
  if (options.json !== undefined) writeJson(options.json, report)
  if (options.save) say(`Added to ${appendCsv(report)}`)
}

async function modelOf(options: BenchOptions, say: Bench['say']): Promise<ModelFile> {
  const { model, type, threads } = options
  if (model === undefined) say(`  model ${shape} ${type}: made on first use`)
  const path = model ?? (await ensureModel(shape, { type }))
  const engine = await openEngine({ modelPath: path, threads, metadataOnly: true })
  await engine.close()
  const { description, threads: chosen } = engine.info
  return { path, description, threads: chosen }
}

async function toolsOf({ tools }: BenchOptions): Promise<string> {
  const names = ['llama-bench', 'llama-server']
  const dir = tools ?? join(await buildNative(new Set(), names), 'bin')
  const missing = names.filter((name) => !existsSync(join(dir, name)))
  if (missing.length === 0) return dir
  throw new UsageError(`--tools ${dir}: there is no ${missing.join(' and no ')}`)
}

function describe({ path, description, threads }: ModelFile): string {
  return `${basename(path)}, ${description}, ${threads} threads`
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
