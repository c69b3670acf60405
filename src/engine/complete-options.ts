/**
 * The engine's options with every default filled in, and checked.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { EngineOptions } from './engine.js'
import { availableCores } from './machine.js'
import type { NativeOptions } from './native.js'

/** @throws {@link OiError} `ERR_INVALID_ARGUMENT` with the option's name and what is expected. */
export function completeOptions(options: EngineOptions): NativeOptions {
  if (typeof options.modelPath !== 'string' || options.modelPath === '') {
    throw new OiError('ERR_INVALID_ARGUMENT', 'modelPath: expected the path of a GGUF file')
  }
  // Native code would not see the text behind a zero character.
  for (const name of ['modelPath', 'projectorPath', 'diskCacheDir', 'device'] as const) {
    if (!options[name]?.includes('\0')) continue
    throw new OiError('ERR_INVALID_ARGUMENT', `${name}: expected a text without a zero character`)
  }
  return {
    modelPath: options.modelPath,
    projectorPath: options.projectorPath ?? '',
    contextTokens: integer('contextTokens', options.contextTokens, 256, 2 ** 31),
    maxForks: integer('maxForks', options.maxForks, 1, 247),
    batchTokens: integer('batchTokens', options.batchTokens, 64, 2 ** 20),
    microbatchTokens: integer('microbatchTokens', options.microbatchTokens, 64, 2 ** 20),
    threads: integer('threads', options.threads, 1, 512),
    device: options.device ?? '',
    split: oneOf('split', options.split, ['layer', 'row']),
    tensorSplit: shares(options.tensorSplit ?? []),
    gpuLayers: integer('gpuLayers', options.gpuLayers, -1, 2 ** 16, -1),
    cpuExperts: integer('cpuExperts', options.cpuExperts, -1, 2 ** 16, -1),
    mmap: options.mmap ?? true,
    mlock: options.mlock ?? false,
    metadataOnly: options.metadataOnly ?? false,
    flashAttention: oneOf('flashAttention', options.flashAttention, ['auto', 'on', 'off']),
    cacheType: oneOf('cacheType', options.cacheType, ['f16', 'f32', 'bf16']),
    kernels: oneOf('kernels', options.kernels, ['auto', 'off']),
    deterministic: options.deterministic ?? false,
    hostCacheBytes: integer('hostCacheBytes', options.hostCacheBytes, 0, 2 ** 50, -1),
    diskCacheDir: options.diskCacheDir ?? '',
    diskCacheBytes: integer('diskCacheBytes', options.diskCacheBytes, 0, 2 ** 50, 8 * 2 ** 30),
    maxBacklogMs: integer('maxBacklogMs', options.maxBacklogMs, 1, 2 ** 31, 30_000),
    maxQueued: integer('maxQueued', options.maxQueued, 1, 2 ** 20, 1024),
    // Two threads keep up with a GPU; on a small machine the model needs the cores.
    tokenizerThreads: availableCores() >= 4 ? 2 : 1,
  }
}

function integer(name: string, value: number | undefined, min: number, max: number, fallback = 0) {
  if (value === undefined) return fallback
  if (!Number.isInteger(value) || value < min || value > max) {
    throw new OiError(
      'ERR_INVALID_ARGUMENT',
      `${name}: expected an integer from ${min} to ${max}, got ${value}`,
    )
  }
  return value
}

function shares(values: readonly number[]): readonly number[] {
  const wrong = values.some((value) => !(value >= 0 && value < Infinity))
  if (wrong || (values.length > 0 && !values.some((value) => value > 0))) {
    throw new OiError(
      'ERR_INVALID_ARGUMENT',
      `tensorSplit: expected numbers from 0, not all of them 0, got ${values.join(', ')}`,
    )
  }
  return values
}

function oneOf<T extends string>(
  name: string,
  value: T | undefined,
  allowed: readonly [T, ...T[]],
): T {
  if (value === undefined) return allowed[0]
  if (!allowed.includes(value)) {
    throw new OiError(
      'ERR_INVALID_ARGUMENT',
      `${name}: expected one of ${allowed.join(', ')}, got ${value}`,
    )
  }
  return value
}
