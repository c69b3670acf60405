/**
 * The wire functions of `oi serve`, bound to the configured limits.
 *
 * @module
 */

import { decodeUtf8 } from '../api/json.js'
import { readRequest } from '../api/read-request.js'
import { mostOptions } from '../api/schemas.js'
import { serializeDecision } from '../decide/decide.js'
import type { Dependencies } from './dependencies.js'

export const createWire: Dependencies['createWire'] = ({ maxQuestions }) => {
  // A model with fewer labels refuses by itself.
  const limits = { maxQuestions, maxOptions: mostOptions, maxLevels: mostOptions }
  return { decodeUtf8, readRequest: (text) => readRequest(text, limits), serializeDecision }
}
