/**
 * Opens the model of a slot.
 *
 * @module
 */

import type { OnProgress } from '../../admin/socket/operations.js'
import { OiError } from '../../errors.js'
import { lookAtFiles } from '../../models/model-files.js'
import type { OpenedModel } from '../../opening/opened-model.js'
import type { ModelSlot } from './model-slot.js'
import type { ModelSlots } from './model-slots.js'
import type { PlannedModel } from './plan-models.js'
import { ServedModel } from './served-model.js'

export interface FillOptions {
  readonly slots: ModelSlots
  /** @param what - Describes the model, for people. */
  readonly openModel: (
    model: PlannedModel,
    what: string,
    onProgress: (fraction: number) => void,
  ) => Promise<OpenedModel>
}

/** @throws What opening it throws; the slot then says why it has no model. */
export async function fillSlot(
  slot: ModelSlot,
  what: string,
  { slots, openModel }: FillOptions,
  onProgress: OnProgress = () => {},
): Promise<void> {
  const { name } = slot.planned
  // Before anything reads them: a change meanwhile is one.
  const files = slot.planned.config
  const seen = await lookAtFiles(files)
  slot.openedFrom = seen
  const startMs = performance.now()
  let told = -1
  try {
    const opened = await openModel(slot.planned, what, (fraction) => {
      slot.loaded = fraction
      const tenths = Math.floor(10 * fraction)
      if (tenths > told) onProgress(`Loading ${name}: ${10 * tenths} %`)
      told = Math.max(told, tenths)
    })
    if (slots.state() === 'closing') {
      // Nobody else knows this model, and the server is stopping.
      await opened.close()
      throw new OiError('ERR_ENGINE_CLOSED', 'The server is stopping')
    }
    const isChanged = async () => (await lookAtFiles(files)).content !== seen.content
    slot.fill(new ServedModel(opened, performance.now() - startMs, isChanged))
  } catch (error) {
    slot.fail(error)
    throw error
  }
}
