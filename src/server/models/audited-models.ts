/**
 * Changes of models by commands, with their entries in the audit log.
 *
 * @module
 */

import type { Administration } from '../../accounts/administration.js'
import type { ModelAdmin, ModelStatus } from '../../admin/socket/operations.js'
import { recordModel } from '../../admin/record-model.js'

/** @param administration - Names the actor. */
export function auditedModels(models: ModelAdmin, administration: Administration): ModelAdmin {
  const record = async (
    action: string,
    statuses: readonly Pick<ModelStatus, 'model' | 'file'>[],
  ) => {
    for (const { model, file } of statuses) {
      await recordModel(administration, action, model, { file })
    }
  }
  return {
    load: async (...asked) => {
      const status = await models.load(...asked)
      await record('model.load', [status])
      return status
    },
    keep: async (...asked) => {
      const [name, keep] = asked
      const status = await models.keep(...asked)
      const { model = name, file = '' } = status ?? {}
      await record(keep ? 'model.keep' : 'model.forget', [{ model, file }])
      return status
    },
    unload: async (...asked) => {
      const status = await models.unload(...asked)
      await record('model.unload', [status])
      return status
    },
    reload: async (...asked) => {
      const statuses = await models.reload(...asked)
      await record('model.reload', statuses)
      return statuses
    },
    status: () => models.status(),
  }
}
