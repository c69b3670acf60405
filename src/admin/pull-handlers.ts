/**
 * Models on the server's disk: listed, pulled, removed.
 *
 * @module
 */

import type { ReplyOf } from '../api/admin/operations.js'
import { OiError } from '../errors.js'
import type { AdminHandlers, AdminServices } from './call.js'
import { timeText } from './present.js'
import type { NamedModelStatus } from './pulls.js'
import { recordModel } from './audited-models.js'
import type { UnderWay } from './under-way.js'

type Ids = 'listNamedModels' | 'pullModel' | 'stopPull' | 'removeModel'

/** An administrator of the API may not read the files of the machine, nor what only it can reach. */
const remote = /^(?:hf:|https:\/\/)/

export function pullHandlers({ pulls }: AdminServices, underWay: UnderWay): AdminHandlers<Ids> {
  /** By source. */
  const running = new Map<string, AbortController>()
  return {
    listNamedModels: async () => {
      const { models, folder, freeBytes } = await pulls.list()
      return { models: models.map(replyOf), folder, free_bytes: freeBytes ?? null }
    },
    pullModel: async ({ body, administration }) => {
      const { source, name, sha256 } = body
      if (!remote.test(source)) {
        const rule = 'source: expected hf:owner/repository or an address like https://…'
        throw new OiError('ERR_REQUEST_UNACCEPTABLE', rule, { param: 'source' })
      }
      if (running.has(source)) throw new OiError('ERR_CONFLICT', `${source} is being pulled`)
      const stop = new AbortController()
      running.set(source, stop)
      try {
        return await underWay.during('model.pull', source, async (onProgress) => {
          const { signal } = stop
          const model = await pulls.pull({ source, name, sha256 }, onProgress, signal)
          await recordModel(administration, 'model.pull', model.name, { source: model.source })
          return replyOf(model)
        })
      } catch (error) {
        if (!stop.signal.aborted) throw error
        throw new OiError('ERR_CONFLICT', `The pull of ${source} was stopped`, { cause: error })
      } finally {
        running.delete(source)
      }
    },
    stopPull: ({ name }) => {
      const stop = running.get(name)
      if (stop === undefined) throw new OiError('ERR_NOT_FOUND', `${name} is not being pulled`)
      stop.abort()
      return undefined
    },
    removeModel: async ({ name, administration }) => {
      const freed = await pulls.remove(name)
      await recordModel(administration, 'model.remove', name, { freed_bytes: freed })
      return { freed_bytes: freed }
    },
  }
}

function replyOf(model: NamedModelStatus): ReplyOf<'pullModel'> {
  const { name, bytes, state, quantization, seesImages, source, pulledMs, isLoaded } = model
  return {
    ...{ name, bytes, state, quantization, source, loaded: isLoaded, sees_images: seesImages },
    pulled_at: pulledMs === undefined ? null : timeText(pulledMs),
  }
}
