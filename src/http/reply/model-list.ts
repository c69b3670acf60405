/**
 * The bodies of GET /v1/models and of one of them. The list: the cards under `models`, and under `data` the shorter list that
 * clients of other model servers read.
 *
 * @module
 */

import type { ModelCard } from '../../decide/types.js'

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
    data: models.map(shortCard),
  }
}

/** One model, as both lists have it. */
export function modelEntry(model: ModelCard, limits: ServerLimits) {
  return { ...fullCard(model, limits), ...shortCard(model) }
}

function shortCard({ name, release_date: date }: ModelCard) {
  const created = Math.floor(Date.parse(date) / 1000)
  return { id: name, object: 'model', created, owned_by: 'oi' }
}
