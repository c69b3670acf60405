/** Models of pooled states: fixtures with other metadata or tensors, and llama.cpp's own results. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { buildNative } from '../../scripts/build/native.js'
import type { Engine, PromptPart } from '../../src/engine/types.js'
import { type FixtureName, fixturePath } from './fixture.js'
import { type MetaValue, readGguf, writeGguf } from './gguf-file.js'
import { withModelFile } from './hidden.js'

export interface Changes {
  readonly meta?: Readonly<Record<string, MetaValue | undefined>>
  /** Names of tensors to leave out. */
  readonly without?: readonly string[]
  /** Tensors of F32 of which the first rows, or numbers of a vector, stay. */
  readonly rows?: Readonly<Record<string, number>>
  readonly type?: string
  /** Another architecture than the fixture's `bert`. */
  readonly architecture?: string
}

/** A copy of the fixture with changes, in a folder of the test. */
export async function pooledModel(
  folder: string,
  fixture: FixtureName,
  { meta = {}, without = [], rows = {}, type, architecture }: Changes = {},
): Promise<string> {
  const path = join(folder, 'pooled.gguf')
  const file = readGguf(await fixturePath(fixture, type === undefined ? {} : { type }))
  const tensors = new Map([...file.tensors].filter(([name]) => !without.includes(name)))
  for (const [name, count] of Object.entries(rows)) {
    const { dims, data, type } = tensors.get(name)!
    const kept = [...dims.slice(0, -1), count]
    const bytes = 4 * kept.reduce((product, dim) => product * dim, 1)
    tensors.set(name, { dims: kept, type, data: data.subarray(0, bytes) })
  }
  if (architecture === undefined) {
    writeGguf(path, { ...file, tensors }, meta)
    return path
  }
  const raw = new Map(
    [...file.raw].map(([key, value]) => [key.replace(/^bert\./, `${architecture}.`), value]),
  )
  writeGguf(path, { ...file, raw, tensors }, { ...meta, 'general.architecture': architecture })
  return path
}

/** Opens the model, passes it to `use`, and always closes it. */
export async function withPooled<T>(
  folder: string,
  fixture: FixtureName,
  changes: Changes,
  options: Parameters<typeof withModelFile>[1],
  use: (engine: Engine, path: string) => Promise<T>,
): Promise<T> {
  const modelPath = await pooledModel(folder, fixture, changes)
  return withModelFile(modelPath, options, (engine) => use(engine, modelPath))
}

/**
 * What llama.cpp makes of each pass by the file's own pooling: the outputs of its head, or the
 * pooled states of a model without.
 */
export async function llamaPooled(
  path: string,
  engine: Engine,
  passes: readonly (readonly PromptPart[])[],
): Promise<number[][]> {
  const dir = await buildNative(new Set(), ['oi-pooled'])
  const lines: string[] = []
  for (const parts of passes) {
    lines.push((await engine.tokenize(parts)).flatMap((ids) => [...ids]).join(' '))
  }
  const input = lines.join('\n') + '\n'
  const run = spawnSync(join(dir, 'oi-pooled'), [path], { input, encoding: 'utf8' })
  if (run.status !== 0) throw new Error(`oi-pooled failed: ${run.stderr}`)
  return run.stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(' ').map(Number))
}

/** Parts from words: those in brackets or bars are a template's. */
export function marked(...texts: readonly string[]): PromptPart[] {
  return texts.map((text) => ({ text, trusted: /^(\[[A-Z]+\]|<\|.*\|>)$/.test(text) }))
}
