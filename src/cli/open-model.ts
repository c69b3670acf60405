/**
 * The engine behind `oi serve` and `oi ask`.
 *
 * @module
 */

import type { Config } from '../config.js'
import { open, type Oi } from '../open.js'
import type { OpenModel } from './dependencies.js'

/** A setting of 0 leaves the choice to the engine. */
export const chosen = (value: number) => (value === 0 ? undefined : value)

/** Opens the configured model. @throws As {@link open}. */
export function openConfigured(
  config: Config,
  onProgress: (fraction: number) => void,
): Promise<Oi> {
  return open({
    model: config.model,
    contextTokens: chosen(config.contextTokens),
    threads: chosen(config.threads),
    gpuLayers: config.gpuLayers,
    maxQueued: config.maxQueued,
    onProgress,
  })
}

export const openModel: OpenModel = async (config, onProgress) => {
  const oi = await openConfigured(config, onProgress)
  const { info, card } = oi
  const attention = info.recurrent || info.hybrid ? 'recurrent' : 'attention'
  const startLine =
    `Model ${card.name} (${info.description}, ${attention}) on ${info.device}, ` +
    `${info.threads} thread${info.threads === 1 ? '' : 's'}, context ${info.contextTokens} tokens, readout ${card.readout}`
  return {
    decider: oi,
    startLine,
    warning: oi.randomWeights
      ? `The weights of ${card.name} are random numbers: its answers mean nothing.`
      : undefined,
    close: () => oi.close(),
  }
}
