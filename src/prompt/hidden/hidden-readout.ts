/**
 * Which readout of hidden states a model has. README.md describes the files of each; the engine
 * tells them apart and computes their heads.
 *
 * @module
 */

import type { Engine, ModelInfo, Suffix } from '../../engine/types.js'
import type { Readout } from '../types.js'
import { ClassesReadout } from './classes-readout.js'
import { PointerReadout, pointerTrial } from './pointer-readout.js'
import { PrefixReadout, prefixTrial } from './prefix-readout.js'
import { RankReadout } from './rank-readout.js'
import { SimilarityReadout } from './similarity-readout.js'

/** By the value of `oi.readout`, which the engine fills in where a file lacks it. */
const readouts: Readonly<Record<string, (info: ModelInfo) => Readout>> = {
  'prefix@1': (info) => new PrefixReadout(info),
  'pointer@1': (info) => new PointerReadout(info),
  'rank@1': (info) => new RankReadout(info),
  'classes@1': (info) => new ClassesReadout(info),
  'similarity@1': (info) => new SimilarityReadout(info),
}

/** Whether a model's answers are read from its hidden states. */
export function readsStates({ metadata }: ModelInfo): boolean {
  return Object.hasOwn(readouts, metadata['oi.readout'] ?? '')
}

/**
 * @param engine - With a model that {@link readsStates}; opening has checked the keys that the
 *   engine needs.
 * @throws {@link OiError} `ERR_READOUT` naming the key with a wrong value.
 */
export function createHiddenReadout({ info }: Engine): Readout {
  return readouts[info.metadata['oi.readout']!]!(info)
}

/**
 * A question of any text for trying out a model that {@link readsStates}: the engine alone reads
 * it.
 */
export function trialSuffix(info: ModelInfo, asked: string): Suffix {
  const readout = info.metadata['oi.readout']
  if (readout === 'prefix@1') return prefixTrial(asked)
  if (readout === 'pointer@1') return pointerTrial(info, asked)
  return { parts: [{ text: asked, trusted: false }], candidates: Int32Array.of(0) }
}
