/**
 * The wire functions of `oi serve`, bound to the configured limits.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { Dependencies } from './dependencies.js'

export const createWire: Dependencies['createWire'] = () => {
  const absent = (): never => {
    throw new OiError('ERR_ADDON_NOT_FOUND', 'This build has no engine: run npm run build')
  }
  return { decodeUtf8: absent, readRequest: absent, serializeDecision: absent }
}
