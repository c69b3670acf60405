/**
 * Opens the models of a start: those of the settings, and the kept ones.
 *
 * A kept model never keeps a server from starting: if it cannot be opened, or memory does not hold
 * it beside the others, the server starts without it.
 *
 * @module
 */

import type { ModelConfig } from '../../config.js'
import type { MemoryNeed } from '../../models/memory-plan.js'
import type { OpenedModel } from '../../opening/opened-model.js'
import { type FillOptions, fillSlot } from './fill-slot.js'
import { ModelSlot } from './model-slot.js'
import { planModels } from './plan-models.js'

export interface OpenFirstOptions extends FillOptions {
  readonly surveyModel: (model: ModelConfig) => Promise<MemoryNeed>
  /** Takes whole lines. */
  readonly say: (text: string) => void
  /** Memory for all of them together. */
  readonly availableBytes: () => number
}

/** Models that are opened if they can be. */
export interface Kept {
  /** One that is the default takes that role. */
  readonly models: readonly ModelConfig[]
  /** Called with each that is left out, and why. */
  readonly onLeftOut: (model: ModelConfig, error: unknown) => void
}

/**
 * @param models - At least one; the default model first.
 * @returns The models, ready to answer.
 */
export async function openFirst(
  models: readonly ModelConfig[],
  kept: Kept,
  options: OpenFirstOptions,
): Promise<readonly OpenedModel[]> {
  const { slots } = options
  const survey = surveyedOnce(options.surveyModel)
  let left: readonly ModelConfig[] = []
  try {
    const plan = (more: readonly ModelConfig[]) =>
      planModels(inOrder(models, more), survey, () => {}, options.availableBytes())
    // What is wrong without them is not blamed on them.
    if (kept.models.length > 0) await plan([])
    for (const model of kept.models) {
      const more = [...left, model]
      const fits = plan(more).then(() => more)
      left = await fits.catch((error: unknown) => {
        kept.onLeftOut(model, error)
        return left
      })
    }
    for (;;) {
      const opened = await openAll(inOrder(models, left), { ...options, surveyModel: survey })
      if (!('failed' in opened)) return opened
      const { failed, error } = opened
      const leftOut = left.find((model) => sameModel(model, failed))
      if (leftOut === undefined || slots.state() === 'closing') throw error
      for (const { served } of slots.list) await served?.opened.close()
      slots.announce([])
      left = left.filter((model) => model !== leftOut)
      kept.onLeftOut(leftOut, error)
    }
  } catch (error) {
    slots.fail()
    throw error
  }
}

interface Failure {
  readonly failed: ModelConfig
  readonly error: unknown
}

async function openAll(
  models: readonly ModelConfig[],
  options: OpenFirstOptions,
): Promise<readonly OpenedModel[] | Failure> {
  const { slots, surveyModel, say, availableBytes } = options
  const planned = await planModels(models, surveyModel, say, availableBytes())
  const all = planned.map((plan) => new ModelSlot(plan))
  slots.announce(all)
  for (const [i, slot] of all.entries()) {
    const which = `${slot.planned.name} (${i + 1} of ${all.length})`
    try {
      await fillSlot(slot, all.length === 1 ? 'the model' : which, options)
    } catch (error) {
      return { failed: slot.planned.asked, error }
    }
  }
  slots.route(all)
  return all.map(({ served }) => served!.opened)
}

/** A kept model that is the default comes first; the first one is the default. */
function inOrder(
  models: readonly ModelConfig[],
  kept: readonly ModelConfig[],
): readonly ModelConfig[] {
  const first = kept.filter((model) => model.default === true)
  const all = [...first, ...models, ...kept.filter((model) => !first.includes(model))]
  return all.map((model, i) => ({ ...model, default: i === 0 }))
}

/** A model's settings, whatever its role. */
const settingsText = (model: ModelConfig) => JSON.stringify({ ...model, default: undefined })
const sameModel = (one: ModelConfig, other: ModelConfig) =>
  settingsText(one) === settingsText(other)

function surveyedOnce(surveyModel: OpenFirstOptions['surveyModel']) {
  const surveyed = new Map<string, Promise<MemoryNeed>>()
  return (model: ModelConfig): Promise<MemoryNeed> => {
    const key = settingsText(model)
    const need = surveyed.get(key) ?? surveyModel(model)
    surveyed.set(key, need)
    return need
  }
}
