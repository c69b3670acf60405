/**
 * The wire functions of `oi serve`, bound to the configured limits.
 *
 * @module
 */

import { decodeUtf8 } from '../api/json.js'
import { readBatch } from '../api/read-batch.js'
import { readRequest } from '../api/read-request.js'
import { mostOptions } from '../api/limits.js'
import { serializeDecision } from '../decide/decide.js'
import type { Dependencies } from './dependencies.js'

export const createWire: Dependencies['createWire'] = ({ maxQuestions }) => {
  // A model with fewer labels refuses by itself.
  const limits = { maxQuestions, maxOptions: mostOptions, maxLevels: mostOptions }
  return {
    decodeUtf8,
    readRequest: (text) => readRequest(text, limits),
    readBatch: (text) => readBatch(text, limits),
    serializeDecision,
  }
}
