/**
 * A readout's own temperatures, by type and number of options.
 *
 * @module
 */

import type { Question } from '../decide/types.js'

/** For questions of one type with `from` to `to` options; 2 for a noul. */
export interface Temperature {
  readonly type: Question['type']
  readonly from: number
  /** Infinity in the last bucket. */
  readonly to: number
  /** Greater than 0. */
  readonly temperature: number
  /** Nats, added to the logit of a noul's yes. Default: 0. */
  readonly bias?: number
}

/** What applies to so many options of a type, or undefined. */
export function findTemperature(
  temperatures: readonly Temperature[],
  type: Question['type'],
  options: number,
): Temperature | undefined {
  return temperatures.find((row) => row.type === type && options >= row.from && options <= row.to)
}
