/**
 * A model on its own threads: open, score, close.
 *
 * Fills in every option, packs requests into typed arrays for the addon, and turns a
 * signal into a cancellation. Holds no logic about prompts or answers.
 *
 * @module
 */

import { access } from 'node:fs/promises'
import { type ErrorCode, errorTable, OiError, type SpentMs } from '../errors.js'
import { checkHeader } from './check-header.js'
import { completeOptions } from './complete-options.js'
import {
  loadAddon,
  type NativeEngine,
  type NativeFacts,
  type NativeFailure,
  type NativeOptions,
} from './native.js'
import { pack, suffixOf } from './pack.js'
import { scopeOf } from './scope.js'
import type {
  Engine,
  EngineStats,
  EngineTimes,
  ModelInfo,
  PromptPart,
  ScoreInput,
  ScoreOptions,
  ScoreOutput,
} from './types.js'

export interface EngineOptions {
  /** A GGUF file; of a split model, its first part. */
  modelPath: string
  /**
   * A GGUF file of the model's projector: with it, images can be parts of a prefix. Default: none.
   */
  projectorPath?: string | undefined
  /** Cells of the context, tokens. Default: chosen from the model and the free memory. */
  contextTokens?: number | undefined
  /**
   * Questions evaluated at once, 1 to 247. Default: 64, on a GPU 96, for recurrent models 16; fewer
   * if the GPU has no room for them.
   */
  maxForks?: number | undefined
  /** Tokens of one `llama_decode` call, at least 64. Default 2,048. */
  batchTokens?: number | undefined
  /**
   * Tokens of one compute graph, at least 64. Default: 512, on a few cores 256, on a GPU with
   * enough memory 2,048.
   */
  microbatchTokens?: number | undefined
  /** Threads of the model. Default: the physical cores that this process may use. */
  threads?: number | undefined
  /**
   * The device of the model, by llama.cpp's names in upper or lower case: `cpu`, `CUDA0`, several
   * GPUs as `CUDA0+CUDA1`. Default: on all GPUs that the addon has a backend for, else on the CPU.
   */
  device?: string | undefined
  /** How several GPUs divide the model: `layer` by layer (default), or each matrix by `row`s. */
  split?: 'layer' | 'row' | undefined
  /** The GPUs' shares of the model, in the GPUs' order. Default: by free memory. */
  tensorSplit?: readonly number[] | undefined
  /**
   * How many of the model's last layers are on GPUs; the output head counts as one. Below 0, the
   * default: as many as fit.
   */
  gpuLayers?: number | undefined
  /**
   * For a mixture of experts on a GPU: how many of the first layers keep their experts in RAM.
   * Below 0, the default: those that do not fit on the GPU.
   */
  cpuExperts?: number | undefined
  /** Whether weights are mapped instead of read. Default true. */
  mmap?: boolean | undefined
  /** Whether weights in RAM are locked there, as far as the system allows. Default false. */
  mlock?: boolean | undefined
  /** Default `auto`: on where the backend supports it. */
  flashAttention?: 'auto' | 'on' | 'off' | undefined
  /** Type of the KV cells. Default `f16`. */
  cacheType?: 'f16' | 'f32' | 'bf16' | undefined
  /**
   * oi's own CPU kernels, where they support this machine (`auto`, default), or llama.cpp's
   * (`off`).
   */
  kernels?: 'auto' | 'off' | undefined
  /**
   * Limit of accepted, unanswered requests: beyond it, a workspace that has its share of them is
   * refused. Default 1,024.
   */
  maxQueued?: number | undefined
  /**
   * Limit of the predicted wait of a request, milliseconds: the time for the requests before it,
   * which are shorter ones of its workspace, and as many tokens of each other workspace. Beyond it,
   * the request is refused. Default 30,000.
   */
  maxBacklogMs?: number | undefined
  /**
   * The same request gives the same bits, whatever else runs. Where our own kernels do not compute
   * everything, every question is evaluated in a batch of its own then, of a fixed shape, which
   * costs throughput. Default false.
   */
  deterministic?: boolean | undefined
  /**
   * RAM for states that have left the context, bytes; 0 for none. Default: chosen by free memory.
   */
  hostCacheBytes?: number | undefined
  /** Folder for states that have left the RAM too; they survive a restart. Default: none. */
  diskCacheDir?: string | undefined
  /** Bytes in that folder. Default 8 GiB. */
  diskCacheBytes?: number | undefined
  /** Opens vocabulary and metadata without weights: `tokenize()` works, `score()` does not. */
  metadataOnly?: boolean | undefined
  /** Called with the loaded fraction, 0 to 1. */
  onProgress?: ((fraction: number) => void) | undefined
}

/**
 * Loads a model and warms it up.
 *
 * @throws {@link OiError} `ERR_INVALID_ARGUMENT` (also for an unknown device, naming the known
 *   ones), `ERR_ADDON_NOT_FOUND`, `ERR_MODEL_NOT_FOUND`, `ERR_MODEL_LOAD` (no GGUF, truncated),
 *   `ERR_MODEL_UNSUPPORTED` (architecture), `ERR_MODEL_MEMORY` (weights or context do not fit),
 *   `ERR_ENGINE_INTERNAL` (the system allows no more threads).
 * @example
 * ```ts
 * const engine = await openEngine({ modelPath: 'model.gguf' })
 * await engine.countTokens('hello') // 1
 * await engine.close()
 * ```
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const complete = await checkedOptions(options)
  const addon = loadAddon()
  return openNative(() => new addon.NativeEngine(complete, options.onProgress ?? (() => {})))
}

/**
 * Opens the addon's engine, or another implementation of it.
 *
 * @throws {@link OiError} As {@link openEngine}; it is closed then.
 */
export async function openNative(create: () => NativeEngine): Promise<Engine> {
  let native: NativeEngine | undefined
  try {
    native = create()
    return new LlamaEngine(native, await native.open())
  } catch (error) {
    await native?.close()
    throw toOiError(error)
  }
}

/**
 * Completes the options of an engine, and requires its files to exist. @throws As {@link
 * openEngine}.
 */
export async function checkedOptions(options: EngineOptions): Promise<NativeOptions> {
  const complete = completeOptions(options)
  const { modelPath, projectorPath } = options
  await requireFile(modelPath, 'model')
  if (projectorPath) await requireFile(projectorPath, 'projector')
  await checkHeader(modelPath)
  if (projectorPath) await checkHeader(projectorPath)
  return complete
}

async function requireFile(path: string, what: string): Promise<void> {
  await access(path).catch((cause: unknown) => {
    throw new OiError('ERR_MODEL_NOT_FOUND', `There is no ${what} file ${path}`, { cause })
  })
}

/** How far a size may be from the parameters, as a share of them: makers leave tables out. */
const nearSize = 0.3

/**
 * llama.cpp tells a model's size by its number of layers, as that of a known model; for others it
 * says `?B`. A size that is not near the file's parameters is replaced by them.
 */
export function withSize(description: string, parameters: number): string {
  const millions = parameters / 1e6
  const size = millions < 1000 ? `${millions.toFixed(1)}M` : `${(millions / 1000).toFixed(1)}B`
  return description.replace(
    / (?:\?|([\d.]+))([MB])(?= )/,
    (said, number?: string, unit?: string) => {
      const named = Number(number ?? NaN) * (unit === 'B' ? 1000 : 1)
      return Math.abs(named - millions) < nearSize * millions ? said : ` ${size}`
    },
  )
}

class LlamaEngine implements Engine {
  readonly info: ModelInfo
  readonly #native: NativeEngine
  readonly #ordinary: Uint8Array
  #lastId = 0
  #closed: Promise<void> | undefined

  constructor(native: NativeEngine, { ordinary, ...info }: NativeFacts) {
    this.#native = native
    this.#ordinary = ordinary
    this.info = Object.freeze({ ...info, description: withSize(info.description, info.parameters) })
  }

  async score(input: ScoreInput, options: ScoreOptions = {}): Promise<ScoreOutput> {
    const { signal, workspace = 0, deadlineMs = Infinity } = options
    const scope = scopeOf(options)
    if (signal?.aborted) throw new OiError('ERR_ABORTED', 'The request was cancelled')
    const id = this.#nextId()
    const packed = pack(input)
    if (packed.images.length > 0 && !this.info.vision) {
      throw new OiError('ERR_INVALID_ARGUMENT', 'image: the model was opened without a projector')
    }
    const pending = this.#native.score(id, { ...packed, workspace, scope, deadlineMs })
    const abort = () => this.#native.cancel(id)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      return await pending
    } catch (error) {
      throw toOiError(error, input)
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  tokenize(texts: readonly PromptPart[]): Promise<Int32Array[]> {
    const kinds = Uint8Array.from(texts, (part) => (part.trusted ? 1 : 0))
    return this.#native
      .tokenize(
        this.#nextId(),
        texts.map((part) => part.text),
        kinds,
      )
      .catch((error: unknown) => Promise.reject(toOiError(error)))
  }

  countTokens(text: string): Promise<number> {
    const count = this.#native.countNow(text)
    if (count !== undefined) return Promise.resolve(count)
    return this.#native
      .count(this.#nextId(), text)
      .catch((error: unknown) => Promise.reject(toOiError(error)))
  }

  stats(): EngineStats {
    return this.#native.stats()
  }

  areOrdinary(ids: Int32Array): boolean[] {
    return Array.from(ids, (id) => this.#ordinary[id] === 1)
  }

  close(): Promise<void> {
    this.#closed ??= this.#native.close()
    return this.#closed
  }

  // Unique among the running calls, which are far fewer than 2^32.
  #nextId(): number {
    this.#lastId = (this.#lastId + 1) >>> 0
    return this.#lastId
  }
}

/** @param input - What was asked. */
function toOiError(error: unknown, input?: ScoreInput): OiError {
  if (error instanceof OiError) return error
  const { code, message, retryAfterMs, question, ...times } = error as Partial<NativeFailure>
  const known = code !== undefined && code in errorTable
  return new OiError(
    known ? (code as ErrorCode) : 'ERR_ENGINE_INTERNAL',
    message ?? String(error),
    {
      cause: error,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(question === undefined || !input ? {} : { suffix: suffixOf(input, question) }),
      ...(times.tokenizeMs === undefined ? {} : { spent: spentOf(times as EngineTimes) }),
    },
  )
}

const spentOf = ({ queueMs, tokenizeMs, visionMs, modelMs }: EngineTimes): SpentMs => ({
  queue: queueMs,
  tokenize: tokenizeMs,
  vision: visionMs,
  model: modelMs,
})
