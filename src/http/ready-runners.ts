/**
 * Whether every model has a process that can answer.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { RunnerReport } from '../runner/supervision.js'

/** @throws {@link OiError} `ERR_OVERLOADED` naming the models of which no process can answer. */
export function requireRunners(runners: readonly RunnerReport[]): void {
  const ready = new Set(runners.filter(({ ready }) => ready).map(({ model }) => model))
  const missing = runners.filter(({ model }) => !ready.has(model))
  if (missing.length === 0) return
  const names = [...new Set(missing.map(({ model }) => model))]
  // Of each model the replica that is there first; of all models the last.
  const soonest = (name: string) =>
    Math.min(...missing.filter(({ model }) => model === name).map((one) => one.retryAfterMs))
  const retryAfterMs = Math.max(...names.map(soonest))
  throw new OiError('ERR_OVERLOADED', `Being loaded again: ${names.join(', ')}`, { retryAfterMs })
}
