/**
 * Operations on a running server, as plain functions; the admin socket calls them.
 *
 * @module
 */

import { readAs } from '../../api/admin/check.js'
import {
  KeepNamedSchema,
  type NewModel,
  NameSchema,
  NewModelSchema,
  SomeNameSchema,
} from '../../api/admin/model-schemas.js'

/** A JSON object. */
export type Input = Readonly<Record<string, unknown>>

/** Reports progress in words for people. */
export type OnProgress = (text: string) => void

/** @returns A value that is sent as JSON. Throws or rejects with an `OiError`. */
export type Operation = (input: Input, onProgress: OnProgress) => Promise<unknown>

/** By name. */
export type Operations = Readonly<Record<string, Operation>>

export interface ProcessStatus {
  readonly pid: number
  /** Resident memory, bytes; undefined if the system does not tell. */
  readonly residentBytes: number | undefined
}

/** The state of a model. */
export interface ModelStatus {
  readonly model: string
  readonly aliases: readonly string[]
  /** Whether it answers requests that name no model. */
  readonly default: boolean
  readonly file: string
  /** Whether the next start loads it, too: as the settings say, as it is kept, or not at all. */
  readonly origin: 'settings' | 'kept' | 'loaded'
  /**
   * `loading`: not ready yet; `ready`; `no process`: its process has ended and is being replaced;
   * `draining`: it has been replaced or unloaded, and finishes its requests; `failed`: it could not
   * be loaded again, or is unfit to answer.
   */
  readonly state: 'loading' | 'ready' | 'no process' | 'draining' | 'failed'
  /** The part loaded so far, 0 to 1; only while loading. */
  readonly loaded: number | undefined
  /** Why it has failed. */
  readonly reason: string | undefined
  /** Empty while there is none. A model without its own process has the server's. */
  readonly processes: readonly ProcessStatus[]
  /** When it entered this state or, if it is ready, when it was first ready; ms since 1970. */
  readonly sinceMs: number
  /** Unexpected ends of its processes, by cause. */
  readonly ends: Readonly<Record<string, number>>
  readonly askedAgain: number
  readonly gaveUp: number
  /** Requests under way. */
  readonly underWay: number
  /** Such as `CPU`; undefined while unknown. */
  readonly device: string | undefined
}

export interface LoadModel {
  /** An absolute path, or the name of a pulled model. */
  readonly file: string
  readonly name: string | undefined
  readonly aliases: readonly string[]
  /** Whether it becomes the default model. */
  readonly default: boolean
  /** The model's settings, by their names in the settings file. */
  readonly settings: Readonly<Record<string, string | number | boolean>>
}

/** The models of a running server. All methods reject with an `OiError`. */
export interface ModelAdmin {
  /** @param keep - Whether the next starts load it, too. */
  load(model: LoadModel, keep: boolean, onProgress: OnProgress): Promise<ModelStatus>
  /**
   * Changes whether the next starts load it.
   *
   * @returns Undefined for a kept model that could not be loaded, and is kept no more.
   */
  keep(name: string, keep: boolean): Promise<ModelStatus | undefined>
  /** A kept model is kept no more. @returns Its last state. */
  unload(name: string, onProgress: OnProgress): Promise<ModelStatus>
  /** @param name - Undefined: all, one after another. */
  reload(name: string | undefined, onProgress: OnProgress): Promise<readonly ModelStatus[]>
  status(): readonly ModelStatus[]
}

export function modelOperations(models: ModelAdmin): Operations {
  return {
    'models.load': (input, onProgress) => {
      const body = readAs('ERR_INVALID_ARGUMENT', NewModelSchema, input)
      return models.load(modelToLoad(body), body.keep === true, onProgress)
    },
    'models.keep': (input) => {
      const { name, keep = true } = readAs('ERR_INVALID_ARGUMENT', KeepNamedSchema, input)
      return models.keep(name, keep)
    },
    'models.unload': (input, onProgress) =>
      models.unload(readAs('ERR_INVALID_ARGUMENT', NameSchema, input).name, onProgress),
    'models.reload': (input, onProgress) =>
      models.reload(readAs('ERR_INVALID_ARGUMENT', SomeNameSchema, input).name, onProgress),
    'models.status': () => Promise.resolve(models.status()),
  }
}

/** What a caller asked for, here or over HTTP. */
export const modelToLoad = (body: NewModel): LoadModel => ({
  file: body.file,
  name: body.name,
  aliases: body.aliases ?? [],
  default: body.default === true,
  settings: body.settings ?? {},
})

export function isInput(value: unknown): value is Input {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
