/**
 * The wire functions of `oi serve`, bound to the configured limits.
 *
 * @module
 */

import { readDecisionInSteps } from '../api/decisions/read-decision.js'
import { writeDecision } from '../api/decisions/write-decision.js'
import { decodeUtf8 } from '../api/json.js'
import { KnownQuestions } from '../api/known-questions.js'
import { readBatchInSteps } from '../api/read-batch.js'
import { readRequestInSteps } from '../api/read-request.js'
import { mostOptions } from '../api/limits.js'
import { serializeDecision } from '../decide/decide.js'
import { atOnce, inTurns, type Steps } from '../api/turns.js'
import type { Dependencies } from './dependencies.js'

/** A shorter text is read in a fraction of the time allowed for a turn of the event loop. */
const shortText = 65_536

export const createWire: Dependencies['createWire'] = ({ maxQuestions, maxReplyBytes }) => {
  // A model with fewer labels refuses the request itself.
  const limits = { maxQuestions, maxOptions: mostOptions, maxLevels: mostOptions }
  const known = new KnownQuestions()
  return {
    decodeUtf8,
    readRequest: (text, { evidence, scope }, ignored) => {
      const size = { maxReplyBytes, evidence }
      return read(text, readRequestInSteps(text, limits, size, known.of(scope), ignored))
    },
    readBatch: (text, { evidence }, ignored) => {
      return read(text, readBatchInSteps(text, limits, { maxReplyBytes, evidence }, ignored))
    },
    serializeDecision,
    readDecision: (text, { evidence }, ignored) => {
      return read(text, readDecisionInSteps(text, limits, { maxReplyBytes, evidence }, ignored))
    },
    writeDecision,
  }
}

function read<T>(text: string, steps: Steps<T>): T | Promise<T> {
  return text.length <= shortText ? atOnce(steps) : inTurns(steps)
}
