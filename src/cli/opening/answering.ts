/**
 * The settings of a model that say how it is asked and what its answers mean, which can change
 * while it is open; all others are of the engine.
 *
 * @module
 */

import { ordersOf } from '../../api/orders.js'
import type { ModelConfig } from '../../config.js'

const names = [
  ...(['name', 'aliases', 'default', 'maxQuestions'] as const),
  ...(['readout', 'calibration', 'orders'] as const),
] as const satisfies readonly (keyof ModelConfig)[]

/** As the library's `open()` takes them. */
export function answeringOf(model: ModelConfig) {
  const { name, aliases, default: isDefault, readout, calibration, maxQuestions } = model
  const orders = ordersOf(model.orders)
  return { name, aliases, default: isDefault, orders, readout, calibration, maxQuestions }
}

/** Whether a model has to be opened anew to be another. */
export function needsOpening(one: ModelConfig, other: ModelConfig): boolean {
  return engineText(one) !== engineText(other)
}

function engineText(model: ModelConfig): string {
  const entries = Object.entries(model).filter(
    ([name]) => !(names as readonly string[]).includes(name),
  )
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
