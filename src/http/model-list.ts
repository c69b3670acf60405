/**
 * The body of GET /v1/models: the cards under `models`, and under `data` the shorter list that
 * clients of other model servers read.
 *
 * @module
 */

import type { ModelCard } from '../decide/types.js'

export function modelList(models: readonly ModelCard[]) {
  return {
    models,
    object: 'list',
    data: models.map((model) => ({
      id: model.name,
      object: 'model',
      created: Math.floor(Date.parse(model.release_date) / 1000),
      owned_by: 'oi',
    })),
  }
}
