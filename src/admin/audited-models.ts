/**
 * Changes of models, with their entries in the audit log.
 *
 * @module
 */

import type { Administration } from '../accounts/administration.js'
import { patiently } from '../accounts/patiently.js'
import type { ModelAdmin } from './socket/operations.js'

/** @param administration - Names the actor. */
export function auditedModels(models: ModelAdmin, administration: Administration): ModelAdmin {
  const record = (action: string, { model, file }: { model: string; file: string }) =>
    recordModel(administration, action, model, { file })
  return {
    load: async (...asked) => {
      const status = await models.load(...asked)
      await record('model.load', status)
      return status
    },
    keep: async (name, keep) => {
      const before = models.status().find(({ model }) => model === name)
      const status = await models.keep(name, keep)
      const { model = name, file = '' } = status ?? before ?? {}
      await record(keep ? 'model.keep' : 'model.forget', { model, file })
      return status
    },
    unload: async (...asked) => {
      const status = await models.unload(...asked)
      await record('model.unload', status)
      return status
    },
    reload: async (...asked) => {
      const statuses = await models.reload(...asked)
      for (const status of statuses) await record('model.reload', status)
      return statuses
    },
    status: () => models.status(),
  }
}

/** Records a change of a model. @param after - What it is now. */
export async function recordModel(
  administration: Administration,
  action: string,
  name: string,
  after: Readonly<Record<string, unknown>>,
): Promise<void> {
  const deed = { action, target: `model ${name}`, name }
  await patiently(() => administration.record(deed, null, after))
}
