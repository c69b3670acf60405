/**
 * What can be done with a running server. Plain functions, whoever calls them: the admin socket
 * does.
 *
 * @module
 */

import { OiError } from '../errors.js'

/** A JSON object. */
export type Input = Readonly<Record<string, unknown>>

/** What an operation is at, in words for people. */
export type OnProgress = (text: string) => void

/** @returns What is sent as JSON. Rejects with an {@link OiError} that says what was wrong. */
export type Operation = (input: Input, onProgress: OnProgress) => Promise<unknown>

/** By their names. */
export type Operations = Readonly<Record<string, Operation>>

export interface ProcessStatus {
  readonly pid: number
  /** Memory that is resident, bytes; undefined where the system does not tell. */
  readonly residentBytes: number | undefined
}

/** How a model stands. */
export interface ModelStatus {
  readonly model: string
  readonly aliases: readonly string[]
  /** Whether it answers requests that name none. */
  readonly default: boolean
  readonly file: string
  /**
   * `loading`: not there yet; `ready`; `no process`: it has ended and is being replaced;
   * `draining`: it has been replaced or unloaded and finishes what it was asked; `failed`: it
   * could not be loaded again.
   */
  readonly state: 'loading' | 'ready' | 'no process' | 'draining' | 'failed'
  /** What has been loaded while it is loading, 0 to 1. */
  readonly loaded: number | undefined
  /** Why it failed. */
  readonly reason: string | undefined
  /** Empty while there is none. A model without a process of its own has the server's. */
  readonly processes: readonly ProcessStatus[]
  /** When it began to be in this state or, if it is ready, could answer first; ms since 1970. */
  readonly sinceMs: number
  /** Unwanted ends of its processes, by cause. */
  readonly ends: Readonly<Record<string, number>>
  readonly askedAgain: number
  readonly gaveUp: number
  /** Requests under way. */
  readonly underWay: number
  /** As `CPU`; undefined while it is not known. */
  readonly device: string | undefined
}

export interface LoadModel {
  /** An absolute path, or the name of a pulled model. */
  readonly file: string
  readonly name: string | undefined
  readonly aliases: readonly string[]
  /** Whether it becomes the model that answers requests that name none. */
  readonly default: boolean
  /** Settings of a model, by their names in the settings file. */
  readonly settings: Readonly<Record<string, string | number | boolean>>
}

/** The models of a running server. All of them reject with an {@link OiError}. */
export interface ModelAdmin {
  load(model: LoadModel, onProgress: OnProgress): Promise<ModelStatus>
  /** @returns How it stood. */
  unload(name: string, onProgress: OnProgress): Promise<ModelStatus>
  /** @param name - Undefined: all, one after another. */
  reload(name: string | undefined, onProgress: OnProgress): Promise<readonly ModelStatus[]>
  status(): readonly ModelStatus[]
}

export function modelOperations(models: ModelAdmin): Operations {
  return {
    'models.load': (input, onProgress) =>
      models.load(
        {
          file: requiredText(input, 'file'),
          name: optionalText(input, 'name'),
          aliases: textsIn(input, 'aliases'),
          default: input['default'] === true,
          settings: settingsIn(input),
        },
        onProgress,
      ),
    'models.unload': (input, onProgress) => models.unload(requiredText(input, 'name'), onProgress),
    'models.reload': (input, onProgress) => models.reload(optionalText(input, 'name'), onProgress),
    'models.status': () => Promise.resolve(models.status()),
  }
}

export function isInput(value: unknown): value is Input {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function requiredText(input: Input, name: string): string {
  const text = optionalText(input, name)
  if (text !== undefined) return text
  throw new OiError('ERR_INVALID_ARGUMENT', `${name}: expected a text, got nothing`)
}

function optionalText(input: Input, name: string): string | undefined {
  const value = input[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string' && value !== '') return value
  throw new OiError('ERR_INVALID_ARGUMENT', `${name}: expected a text that is not empty`)
}

function textsIn(input: Input, name: string): readonly string[] {
  const value = input[name] ?? []
  if (Array.isArray(value) && value.every((one) => typeof one === 'string' && one !== '')) {
    return value as string[]
  }
  throw new OiError('ERR_INVALID_ARGUMENT', `${name}: expected texts that are not empty`)
}

function settingsIn({ settings = {} }: Input): LoadModel['settings'] {
  const simple = ['string', 'number', 'boolean']
  if (isInput(settings) && Object.values(settings).every((one) => simple.includes(typeof one))) {
    return settings as LoadModel['settings']
  }
  throw new OiError('ERR_INVALID_ARGUMENT', 'settings: expected an object of simple values')
}
