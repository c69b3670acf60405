/**
 * The bodies of GET /v1/models and GET /v1/models/{id}. The list has the cards under `models`, and
 * under `data` the shorter form for clients of other model servers.
 *
 * @module
 */

import type { ModelCard } from '../../decide/types.js'

/** The server's limits, independent of the model. */
export interface ServerLimits {
  readonly max_body_bytes: number
  readonly max_reply_bytes: number
}

/** A card with the server's limits. */
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

/** One model, in both forms of the list. */
export function modelEntry(model: ModelCard, limits: ServerLimits) {
  return { ...fullCard(model, limits), ...shortCard(model) }
}

function shortCard({ name, release_date: date }: ModelCard) {
  const created = Math.floor(Date.parse(date) / 1000)
  return { id: name, object: 'model', created, owned_by: 'oi' }
}
