/**
 * The measured models: a given file, or a shape of random weights.
 *
 * @module
 */

import { basename } from 'node:path'
import { defaultModelPath } from '../../src/models/default-model.js'
import { ensureRealModel, isRealModel } from '../fetch-model/real-models.js'
import { ensureModel } from '../make-model/ensure.js'
import { withEngine } from './engine-load.js'
import type { BenchOptions } from './options.js'

export interface ModelFile {
  readonly path: string
  /** llama.cpp's description, as `qwen3 0.6B Q4_0`. */
  readonly description: string
  /** Chosen by an option, or by the engine. */
  readonly threads: number
  /** Whether our own CPU kernels may be used. */
  readonly kernels: BenchOptions['kernels']
}

/**
 * The package's own model; a real model's shape, for meaningful speed; and fixtures, for many
 * requests.
 */
export type ShapeName =
  | 'oi-small'
  | 'qwen3-0.6b'
  | 'qwen3-1.7b'
  | 'fixture-dense-qwen'
  | 'fixture-small'
  | 'fixture-28-layers'
  | 'fixture-36-layers'

/** Weights of a real shape, as on a small machine. */
const realType = 'Q4_0'

export class ModelFiles {
  readonly #options: BenchOptions
  readonly #say: (line: string) => void
  readonly #found = new Map<string, Promise<ModelFile>>()

  constructor(options: BenchOptions, say: (line: string) => void) {
    this.#options = options
    this.#say = say
  }

  /**
   * The file of `--model`, or the real model of that name, for any shape; without it the shape's
   * model, made on first use.
   *
   * @param type - Weights, whatever the options say and whatever their model.
   */
  get(shape: ShapeName, type?: string): Promise<ModelFile> {
    const key = type === undefined ? (this.#options.model ?? shape) : `${shape} ${type}`
    const found = this.#found.get(key) ?? this.#find(shape, type)
    this.#found.set(key, found)
    return found
  }

  async #find(shape: ShapeName, type?: string): Promise<ModelFile> {
    const given = type === undefined ? this.#options.model : undefined
    const path = given === undefined ? await this.#make(shape, type) : await existing(given)
    return modelFile(path, this.#options)
  }

  async #make(shape: ShapeName, wanted = this.#options.type): Promise<string> {
    if (shape === 'oi-small') return defaultModelPath
    const type = wanted ?? (shape.startsWith('fixture-') ? undefined : realType)
    this.#say(`  model ${shape}${type === undefined ? '' : ` ${type}`}: made on first use`)
    return ensureModel(shape, { type })
  }
}

export function modelFile(path: string, options: BenchOptions): Promise<ModelFile> {
  const { threads, kernels } = options
  return withEngine({ modelPath: path, threads, metadataOnly: true }, async ({ info }) => {
    return { path, description: info.description, threads: info.threads, kernels }
  })
}

/** @param model - A real model's name, or the path of a file. */
async function existing(model: string): Promise<string> {
  return isRealModel(model) ? ensureRealModel(model) : model
}

/** As in reports. */
export function describeModel({ path, description, threads, kernels }: ModelFile): string {
  const without = kernels === 'off' ? ', own kernels off' : ''
  return `${basename(path)}, ${description}, ${threads} threads${without}`
}
