/**
 * Operations of administrators on the models of a server.
 *
 * @module
 */

import type { LoadModel, ModelAdmin, ModelStatus } from '../../admin/socket/operations.js'
import type { ModelConfig } from '../../config.js'
import { OiError } from '../../errors.js'
import { needsOpening } from '../../opening/answering.js'
import type { KeptModels } from './kept-models.js'
import type { ModelChanges } from './model-changes.js'
import type { SlotStatus } from './model-slot.js'
import type { ModelSlots } from './model-slots.js'

export interface ModelAdminOptions {
  readonly slots: ModelSlots
  readonly changes: ModelChanges
  readonly kept: KeptModels
  /** The models that the settings name. */
  readonly settingsModels: () => readonly ModelConfig[]
  /**
   * A model with its own settings and, for the rest, the server's; a name of a pulled model is
   * replaced by the model's files.
   */
  readonly settingsOf: (file: string, settings: LoadModel['settings']) => ModelConfig
}

/** Identifies an entry of the settings. */
const keyOf = ({ name, file }: ModelConfig) => name ?? file

export function createModelAdmin(options: ModelAdminOptions): ModelAdmin {
  const { slots, changes, kept, settingsOf, settingsModels } = options
  /** By name. */
  const loaded = new Map<string, LoadModel>(kept.models.map((model) => [model.name, model]))
  const originOf = (name: string): ModelStatus['origin'] => {
    const asked = slots.asked().get(name)
    const key = asked && keyOf(asked)
    if (settingsModels().some((model) => keyOf(model) === key)) return 'settings'
    return kept.has(name) ? 'kept' : 'loaded'
  }
  const withOrigin = (status: SlotStatus): ModelStatus => {
    return { ...status, origin: originOf(status.model) }
  }
  return {
    load: async (model, keep, onProgress) => {
      const { file, name, aliases, settings, default: isDefault } = model
      const found = settingsOf(file, settings)
      const known = [...slots.asked()].find(([, asked]) => asked.file === found.file)
      if (name === undefined && known !== undefined) {
        throw new OiError(
          'ERR_CONFIG',
          `${file} is loaded already, as ${known[0]}: reload it, or give it a second name (--name)`,
        )
      }
      const asked = { ...found, name: name ?? found.name, aliases, default: isDefault }
      const status = await changes.add(asked, onProgress)
      loaded.set(status.model, model)
      if (keep) await kept.add({ ...model, name: status.model })
      return withOrigin(status)
    },
    keep: async (name, keep) => {
      if (!keep && kept.has(name) && !slots.asked().has(name)) {
        await kept.remove(name)
        return undefined
      }
      const { model, default: isDefault } = slots.find(name).status()[0]!
      const asked = loaded.get(model)
      if (!keep) await kept.remove(model)
      else if (asked !== undefined) await kept.add({ ...asked, name: model, default: isDefault })
      return withOrigin(slots.find(name).status()[0]!)
    },
    unload: async (name, onProgress) => {
      const origin = originOf(slots.find(name).planned.name)
      const status = { ...(await changes.remove(name, onProgress)), origin }
      if (kept.has(status.model)) await kept.remove(status.model)
      loaded.delete(status.model)
      return status
    },
    reload: async (name, onProgress) => {
      const names = name === undefined ? [...slots.asked().keys()] : [name]
      const statuses: ModelStatus[] = []
      for (const each of names) statuses.push(withOrigin(await changes.replace(each, onProgress)))
      return statuses
    },
    status: () => slots.status().map(withOrigin),
  }
}

/**
 * Applies new settings to the models: loads new models, reopens models whose engine settings
 * changed, unloads removed ones; all read their readouts and calibrations again. Models that no
 * settings named stay.
 *
 * @param before - The models by the old settings.
 * @param after - The models by the new settings; the default model first.
 * @param onFailure - Called with a sentence for each failure. The rest is done all the same.
 */
export async function applyModels(
  { slots, changes }: Pick<ModelAdminOptions, 'slots' | 'changes'>,
  before: readonly ModelConfig[],
  after: readonly ModelConfig[],
  onFailure: (text: string) => void,
): Promise<void> {
  const find = (wanted: ModelConfig) =>
    [...slots.asked()].find(([, asked]) => keyOf(asked) === keyOf(wanted))
  const attempt = async (task: Promise<unknown>) => {
    await task.catch((error: unknown) => onFailure((error as Error).message))
  }
  for (const wanted of after) {
    const [name, asked] = find(wanted) ?? []
    if (name === undefined) {
      await attempt(changes.add({ ...wanted, default: false }, () => {}))
    } else if (needsOpening(asked!, wanted)) {
      await attempt(
        changes.replace(name, () => {}, { ...wanted, default: asked!.default === true }),
      )
    }
  }
  const named = after.flatMap((wanted) => {
    const [name, asked] = find(wanted) ?? []
    // A model that could not be reopened goes on unchanged.
    return name === undefined || needsOpening(asked!, wanted) ? [] : ([[name, wanted]] as const)
  })
  await attempt(changes.arrange(new Map(named)))
  for (const gone of before.filter((one) => !after.some((other) => keyOf(other) === keyOf(one)))) {
    const [name] = find(gone) ?? []
    if (name !== undefined) await attempt(changes.remove(name, () => {}))
  }
}
