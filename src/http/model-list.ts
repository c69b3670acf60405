/**
 * The body of GET /v1/models: the cards under `models`, and under `data` the shorter list that
 * clients of other model servers read.
 *
 * @module
 */

import type { ModelCard } from '../decide/types.js'

/** What the server allows, whatever the model could do. */
export interface ServerLimits {
  readonly max_body_bytes: number
  readonly max_reply_bytes: number
}

/** A card with what the server allows besides. */
export function fullCard(model: ModelCard, limits: ServerLimits) {
  return { ...model, limits: { ...model.limits, ...limits } }
}

export function modelList(models: readonly ModelCard[], limits: ServerLimits) {
  return {
    models: models.map((model) => fullCard(model, limits)),
    object: 'list',
    data: models.map((model) => ({
      id: model.name,
      object: 'model',
      created: Math.floor(Date.parse(model.release_date) / 1000),
      owned_by: 'oi',
    })),
  }
}
