/**
 * Which readout of hidden states a model has. README.md describes the files of each; the engine
 * tells them apart and computes their heads.
 *
 * @module
 */

import type { Engine, ModelInfo, PromptPart, Suffix } from '../../engine/types.js'
import type { Readout } from '../types.js'
import { ClassesReadout } from './classes-readout.js'
import { MarkerReadout } from './marker-readout.js'
import { PrefixReadout, trialParts } from './prefix-readout.js'
import { RankReadout } from './rank-readout.js'
import { SimilarityReadout } from './similarity-readout.js'

/** By the value of `oi.readout`, which the engine fills in where a file lacks it. */
const readouts: Readonly<Record<string, (info: ModelInfo) => Readout>> = {
  'markers@1': (info) => new MarkerReadout(info, 'oi.markers.'),
  'prefix@1': (info) => new PrefixReadout(info),
  'pointer@1': (info) => new MarkerReadout(info, 'oi.pointer.'),
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
export function trialSuffix({ metadata }: ModelInfo, asked: string): Suffix {
  const text: PromptPart = { text: asked, trusted: false }
  if (metadata['oi.readout'] === 'prefix@1') {
    return { parts: trialParts(asked), candidates: Int32Array.of(0, 0) }
  }
  const prefix = { 'markers@1': 'oi.markers.', 'pointer@1': 'oi.pointer.' }[metadata['oi.readout']!]
  if (prefix === undefined) return { parts: [text], candidates: Int32Array.of(0) }
  const marker: PromptPart = { text: metadata[`${prefix}marker`] ?? '', trusted: true }
  const options = ['no', 'yes'].flatMap((option) => [marker, { text: option, trusted: false }])
  return { parts: [text, ...options], candidates: Int32Array.of(0, 1) }
}
