/**
 * The models that a server loads at every start besides those of its settings: `models.json` in the
 * data folder.
 *
 *     { "models": [{ "file": "/models/big.gguf", "name": "big", "aliases": [], "default": false,
 *       "settings": { "threads": "2" } }] }
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type LoadModel, modelToLoad } from '../../admin/socket/operations.js'
import { KeptModelsSchema } from '../../api/admin/model-schemas.js'
import { OiError } from '../../errors.js'
import { readFields } from '../../models/json-fields.js'
import { writeWholeFile } from '../../models/whole-file.js'
import { InTurn } from '../../in-turn.js'

/** A model as it was loaded, under its own name. */
type KeptModel = LoadModel & { readonly name: string }

export class KeptModels {
  readonly #path: string
  readonly #turns = new InTurn()
  #models: readonly KeptModel[]

  /** @throws {@link OiError} `ERR_CONFIG` if the file is damaged. */
  static async read(dataDir: string): Promise<KeptModels> {
    const path = join(dataDir, 'models.json')
    try {
      const { models } = readFields(KeptModelsSchema, await readFile(path, 'utf8'))
      return new KeptModels(
        path,
        models.map((model) => ({ ...modelToLoad(model), name: model.name })),
      )
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException
      if (code === 'ENOENT') return new KeptModels(path, [])
      const remedy = 'mend it, or remove it and load the models again (oi models load --keep)'
      throw new OiError('ERR_CONFIG', `${path}: ${message}: ${remedy}`, { cause })
    }
  }

  private constructor(path: string, models: readonly KeptModel[]) {
    this.#path = path
    this.#models = models
  }

  get models(): readonly KeptModel[] {
    return this.#models
  }

  has(name: string): boolean {
    return this.#models.some((model) => model.name === name)
  }

  /** @throws {@link OiError} `ERR_INVALID_ARGUMENT` if the file cannot be written. */
  add(model: KeptModel): Promise<void> {
    return this.#write(() => {
      const others = this.#models.filter(({ name }) => name !== model.name)
      // There is one default model.
      const kept = others.map((other) => (model.default ? { ...other, default: false } : other))
      return [...kept, model]
    })
  }

  /** @throws As {@link add}. */
  remove(name: string): Promise<void> {
    return this.#write(() => this.#models.filter((model) => model.name !== name))
  }

  #write(change: () => readonly KeptModel[]): Promise<void> {
    return this.#turns.run(async () => {
      const models = change()
      try {
        await writeWholeFile(this.#path, `${JSON.stringify({ models }, null, 2)}\n`)
      } catch (cause) {
        const { message } = cause as Error
        throw new OiError('ERR_INVALID_ARGUMENT', `${this.#path}: ${message}`, { cause })
      }
      this.#models = models
    })
  }
}
