/**
 * The placement of a model on devices, for people.
 *
 * @module
 */

import type { ModelInfo, Placement } from '../engine/types.js'
import { sizeText } from '../api/words.js'

/** `CPU`, or the parts on each GPU: `CUDA0 (a card: 29 of 29 layers, weights 4.02 GB, …)`. */
export function placesText({ device, placement }: Pick<ModelInfo, 'device' | 'placement'>): string {
  const gpus = placement.filter(isGpu)
  if (gpus.length === 0) return device
  const all = placement.reduce((sum, { layers }) => sum + layers, 0)
  return gpus
    .map(
      (gpu) => `${gpu.device} (${gpu.description}: ${gpu.layers} of ${all} layers, ${parts(gpu)})`,
    )
    .join(', ')
}

/** One line for each device in use, with its free memory before loading. */
export function placementLines(placement: readonly Placement[]): readonly string[] {
  const all = placement.reduce((sum, { layers }) => sum + layers, 0)
  return placement.map((entry) => {
    const name = isGpu(entry) ? `${entry.device} (${entry.description})` : entry.device
    return `${name}: ${entry.layers} of ${all} layers, ${parts(entry)}`
  })
}

function parts({ weightBytes, cellBytes, bufferBytes, freeBytes }: Placement): string {
  const free = freeBytes === 0 ? '' : ` of ${sizeText(freeBytes)} free`
  return (
    `weights ${sizeText(weightBytes)}, cells ${sizeText(cellBytes)}, ` +
    `buffers ${sizeText(bufferBytes)}${free}`
  )
}

function isGpu({ device }: Placement): boolean {
  return device !== 'CPU'
}
