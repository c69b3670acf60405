/**
 * Models of random weights for tests, benchmarks and a first start: made once, then found in
 * `models/` of the project.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'
import { llamaTree } from '../build/vendor.js'
import { withLock } from './lock.js'
import { defaultType, writeModel, type ModelOptions } from './tool.js'

const modelsDir = join(root, 'models')

/**
 * The path of a model, which is made first if it does not exist.
 *
 * Its name holds a hash of the options, the tool's sources and llama.cpp's commit, so a
 * change of any of them gives a new file; old ones may be deleted at any time. Several
 * processes may ask at once: one makes the model, the others wait for it.
 *
 * @param name - `fixture-dense`, `qwen3-0.6b`, …: see `npm run make-model -- --list`.
 * @throws ToolError as {@link writeModel} does.
 * @example
 * const path = await ensureModel('fixture-dense', { type: 'Q8_0' })
 */
export async function ensureModel(name: string, options: ModelOptions = {}): Promise<string> {
  const type = options.type ?? defaultType(name)
  const path = join(modelsDir, `${name}-${type}-${await identity(options)}.gguf`)
  if (existsSync(path)) return path
  mkdirSync(modelsDir, { recursive: true })
  // The file appears whole anyway: the lock protects the tool's build.
  await withLock(join(modelsDir, '.lock'), async () => {
    if (!existsSync(path)) await writeModel(name, path, options, false)
  })
  return path
}

async function identity(options: ModelOptions): Promise<string> {
  const hash = createHash('sha256')
  const tools = join(root, 'native/tools')
  for (const file of readdirSync(tools).sort()) hash.update(readFileSync(join(tools, file)))
  const { template } = options
  const templateText = template && existsSync(template) ? readFileSync(template, 'utf8') : template
  const tree = await llamaTree()
  hash.update(
    JSON.stringify([
      ...[tree.commit, options.seed ?? 1, options.vocab ?? null, templateText ?? null],
      options.decision ?? null,
    ]),
  )
  return hash.digest('hex').slice(0, 12)
}
