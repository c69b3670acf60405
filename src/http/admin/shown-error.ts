/**
 * What whoever administers is told of an error.
 *
 * @module
 */

import { type ErrorCode, OiError } from '../../errors.js'

/**
 * Elsewhere faults of the server, whose words stay in its log; here mistakes in what was asked for,
 * and whoever asked runs the server.
 */
const mistakes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  ...(['ERR_ACCOUNTS', 'ERR_CONFIG', 'ERR_INVALID_ARGUMENT', 'ERR_READOUT'] as const),
  ...(['ERR_CALIBRATION', 'ERR_MODEL_NOT_FOUND', 'ERR_MODEL_LOAD'] as const),
  ...(['ERR_MODEL_UNSUPPORTED', 'ERR_MODEL_MEMORY', 'ERR_PACKAGE_NOT_FOUND'] as const),
])

export function shownError(error: unknown): unknown {
  if (!(error instanceof OiError) || !mistakes.has(error.code)) return error
  const { message, param } = error
  const details = { cause: error, ...(param !== undefined && { param }) }
  return new OiError('ERR_REQUEST_UNACCEPTABLE', message, details)
}
