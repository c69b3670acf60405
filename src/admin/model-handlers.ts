/**
 * The models of the running server, and their prices.
 *
 * @module
 */

import { isAbsolute } from 'node:path'
import {
  type ModelAdmin,
  modelToLoad,
  type ModelStatus,
  type OnProgress,
} from './socket/operations.js'
import type { ReplyOf } from '../api/admin/operations.js'
import { OiError } from '../errors.js'
import { fullCard } from '../http/reply/model-list.js'
import { auditedModels } from './audited-models.js'
import type { AdminHandlers, AdminServices, Call } from './call.js'
import { timeText } from './present.js'
import type { Action, UnderWay } from './under-way.js'

type Ids =
  | 'listModels'
  | 'loadModel'
  | 'getModel'
  | 'reloadModel'
  | 'keepModel'
  | 'unloadModel'
  | 'listPrices'
  | 'setPrice'
type Changing = 'loadModel' | 'reloadModel' | 'unloadModel'
type State = ReplyOf<'getModel'>

/**
 * The name of a model that oi models pull has fetched; it never means a file in the server's
 * working folder.
 */
const pulledName = /^(?!.*\.gguf$)[\w.-]+$/i

export function modelHandlers(services: AdminServices, underWay: UnderWay): AdminHandlers<Ids> {
  const { models, accounts, decider, limits } = services

  const replyOf = (status: ModelStatus): State => {
    const cards = decider()?.models ?? []
    const card = cards.find(({ name }) => name === status.model)
    return stateReply(status, card === undefined ? null : fullCard(card, limits()))
  }

  /** One change of a model: shown while it runs, and logged. */
  const change = (
    { administration }: Call<Changing>,
    action: Action,
    target: string,
    task: (models: ModelAdmin, onProgress: OnProgress) => Promise<ModelStatus>,
  ): Promise<State> =>
    underWay.during(action, target, async (onProgress) =>
      replyOf(await task(auditedModels(models, administration), onProgress)),
    )

  return {
    listModels: () => ({
      models: models.status().map(replyOf),
      under_way: underWay.list(),
    }),
    getModel: ({ name }) => replyOf(find(models, name)),
    loadModel: (call) => {
      const { file, keep = false } = call.body
      if (!isAbsolute(file) && !pulledName.test(file)) {
        const rule =
          'file: expected an absolute path on the machine of the server, or the name of a pulled model'
        throw new OiError('ERR_REQUEST_UNACCEPTABLE', rule, { param: 'file' })
      }
      return change(call, 'model.load', file, (models, onProgress) =>
        models.load(modelToLoad(call.body), keep, onProgress),
      )
    },
    reloadModel: (call) =>
      change(call, 'model.reload', call.name, async (models, onProgress) => {
        const [status] = await models.reload(find(models, call.name).model, onProgress)
        return status!
      }),
    keepModel: async ({ name, body: { keep }, administration }) => {
      const { model } = find(models, name)
      const status = await auditedModels(models, administration).keep(model, keep)
      return replyOf(status ?? find(models, name))
    },
    unloadModel: (call) =>
      change(call, 'model.unload', call.name, (models, onProgress) =>
        models.unload(call.name, onProgress),
      ),
    listPrices: () => ({ prices: accounts.prices.list() }),
    setPrice: ({ body, administration }) => {
      const { model, ...price } = body
      return administration.setPrice(model, price)
    },
  }
}

function find(models: ModelAdmin, name: string): ModelStatus {
  const statuses = models.status()
  const found =
    statuses.find(({ model }) => model === name) ??
    statuses.find(({ aliases }) => aliases.includes(name))
  if (found !== undefined) return found
  const known = statuses.map(({ model }) => model).join(', ')
  throw new OiError('ERR_NOT_FOUND', `There is no model ${name} (loaded: ${known})`)
}

function stateReply(status: ModelStatus, card: ReturnType<typeof fullCard> | null): State {
  const { model, aliases, file, origin, state, loaded, reason, sinceMs, device, processes, ends } =
    status
  return {
    ...{ name: model, aliases: [...aliases], default: status.default, file, origin, state },
    ...{ loaded: loaded ?? null, reason: reason ?? null, since: timeText(sinceMs) },
    device: device ?? null,
    processes: processes.map(({ pid, residentBytes }) => ({
      pid,
      resident_bytes: residentBytes ?? null,
    })),
    ends: { ...ends },
    asked_again: status.askedAgain,
    gave_up: status.gaveUp,
    requests_under_way: status.underWay,
    card: card as State['card'],
  }
}
