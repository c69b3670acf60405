/**
 * The engine behind `oi serve`.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { OpenModel } from './dependencies.js'

export const openModel: OpenModel = async () => {
  throw new OiError('ERR_ADDON_NOT_FOUND', 'This build has no engine: run npm run build')
}
