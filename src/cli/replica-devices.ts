/**
 * How often a model runs, and where.
 *
 * @module
 */

import type { ModelConfig } from '../config.js'
import { OiError } from '../errors.js'

/**
 * @returns The device of each replica, '' for one that nobody chose: as many replicas as asked for,
 *   else one on each device that was named. Devices that are named twice count twice.
 * @throws {@link OiError} `ERR_CONFIG` if there are fewer replicas than devices.
 */
export function replicaDevices({
  device,
  replicas,
}: Pick<ModelConfig, 'device' | 'replicas'>): readonly string[] {
  const devices = device.split(',').map((name) => name.trim())
  const count = replicas === 0 ? devices.length : replicas
  if (count < devices.length) {
    throw new OiError(
      'ERR_CONFIG',
      `replicas: expected one for each device at least, got ${count} for ${devices.join(', ')}`,
    )
  }
  return Array.from({ length: count }, (_, i) => devices[i % devices.length]!)
}

/** The same model, on the first of its devices alone: for who asks one thing after another. */
export function onOneDevice(model: ModelConfig): ModelConfig {
  return { ...model, device: replicaDevices(model)[0]!, replicas: 1 }
}
