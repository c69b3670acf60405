/**
 * The settings of a model that can change while it is open: how to ask it, and how to calibrate its
 * answers. All others belong to the engine.
 *
 * @module
 */

import { ordersOf } from '../api/orders.js'
import type { ModelConfig } from '../config.js'

const names = [
  ...(['name', 'aliases', 'default', 'maxQuestions'] as const),
  ...(['readout', 'calibration', 'orders'] as const),
] as const satisfies readonly (keyof ModelConfig)[]

/** These settings as options of the library's `open()`. */
export function answeringOf(model: ModelConfig) {
  const { name, aliases, default: isDefault, readout, calibration, maxQuestions } = model
  const orders = ordersOf(model.orders)
  return { name, aliases, default: isDefault, orders, readout, calibration, maxQuestions }
}

/** Whether the change from one to the other needs the model to be opened again. */
export function needsOpening(one: ModelConfig, other: ModelConfig): boolean {
  return engineText(one) !== engineText(other)
}

function engineText(model: ModelConfig): string {
  const entries = Object.entries(model).filter(
    ([name]) => !(names as readonly string[]).includes(name),
  )
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
