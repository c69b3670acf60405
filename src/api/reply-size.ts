/**
 * Bounds the length of a reply from the request alone.
 *
 * A reply repeats names, options and legends, once for each item of a batch: a request of 4 MB can
 * ask for a reply of 500 MB. So the length is checked before any work is done.
 *
 * @module
 */

import type { Question } from '../decide/types.js'
import { keysOf, stringifyJson } from './json.js'
import { failure } from './place.js'
import type { Steps } from './turns.js'

/** What the bound depends on. */
export interface ReplySize {
  /** The limit for the whole body. */
  readonly maxReplyBytes: number
  /** Whether the answers include their evidence. */
  readonly evidence: boolean
}

/**
 * Of a body beside its answers: model, usage, latency, evidence; of an item also index and status.
 */
const bodyBytes = 512
/** Of an answer beside its name and options: the names of its members, numbers, braces. */
const answerBytes = 160
/** Of an answer's evidence, including up to nine logits of a noul. */
const evidenceBytes = 400
/** The longest positive number below 1 in JSON, with a comma or colon on each side. */
const numberBytes = 25
/** The most reply bytes per character of request: short levels with evidence. */
const bytesPerCharacter = 64

/** True if the text is so short that its reply certainly fits. */
export function fitsSurely(textLength: number, { maxReplyBytes }: ReplySize): boolean {
  return bodyBytes + bytesPerCharacter * textLength <= maxReplyBytes
}

/** An upper bound of the reply's bytes. @param id - Of an item, which the reply repeats. */
export function* replyBytes(
  questions: Readonly<Record<string, Question>>,
  { evidence }: ReplySize,
  id = '',
): Steps<number> {
  let bytes = bodyBytes + jsonBytes(id)
  for (const name of keysOf(questions)) {
    bytes += jsonBytes(name) + answerBytes + (evidence ? evidenceBytes : 0)
    bytes += optionBytes(questions[name]!, evidence)
    yield
  }
  return bytes
}

/**
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE`. @param place - Of the cause of the length.
 */
export function requireReplyFits(bytes: number, { maxReplyBytes }: ReplySize, place: string): void {
  if (bytes <= maxReplyBytes) return
  const rule = `expected a reply of at most max_reply_bytes, ${maxReplyBytes}, got up to ${bytes} bytes`
  throw failure('ERR_REQUEST_UNACCEPTABLE', place, rule)
}

function optionBytes(question: Question, evidence: boolean): number {
  if (question.type === 'noul') return 0
  const each = (evidence ? 2 : 1) * numberBytes
  let bytes = 0
  if (question.type === 'choice') {
    let longest = 0
    for (const name of keysOf(question.criteria)) {
      const own = jsonBytes(name)
      bytes += own + each
      longest = Math.max(longest, own)
    }
    return bytes + longest
  }
  for (const level of question.criteria) {
    // A level's index stands before its probability and before its text.
    bytes += 2 * '"255":'.length + each + Buffer.byteLength(stringifyJson(level)) + 1
  }
  return bytes
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text))
}
