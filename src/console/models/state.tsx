/**
 * The state and the memory of a model, and their columns in a table.
 *
 * @module
 */

import { bytes, capitalized } from '../format.js'
import { Status, type Tone } from '../parts/small.js'
import { type Column, numbers } from '../parts/table.js'
import type { ModelState } from '../wire.js'

const modelTones: Readonly<Record<ModelState['state'], Tone>> = {
  ready: 'good',
  loading: 'warn',
  draining: 'warn',
  'no process': 'bad',
  failed: 'bad',
}

/** As `Ready`; while the model loads, the progress. */
export function StateOf({ of: { state, loaded } }: { readonly of: ModelState }) {
  const far = loaded === null || state !== 'loading' ? '' : ` ${Math.round(loaded * 100)}%`
  return (
    <Status tone={modelTones[state]}>
      {capitalized(state)}
      {far}
    </Status>
  )
}

/** Resident memory of all its processes, bytes; undefined if unknown. */
export function memoryOf({ processes }: ModelState): number | undefined {
  if (processes.length === 0) return undefined
  let sum = 0
  for (const { resident_bytes: size } of processes) {
    if (size === null) return undefined
    sum += size
  }
  return sum
}

export const stateColumn: Column<ModelState> = {
  name: 'State',
  by: ({ state }) => state,
  cell: (model) => <StateOf of={model} />,
}

export const memoryColumn = numbers('Memory', memoryOf, bytes)
export const runningColumn = numbers('Running', (model: ModelState) => model.requests_under_way)
