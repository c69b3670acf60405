/**
 * The layout of state and question by a user's own template.
 *
 * @module
 */

import { OiError } from '../../errors.js'
import type { ChatTokens } from '../chat-template.js'
import type { Layout } from '../plain-layout.js'
import { openThinking } from '../thinking.js'
import { MarkedTemplate } from './marked-template.js'

/**
 * @param source - Jinja that shows `state` and then `question`.
 * @param tokens - The model's `bos_token` and `eos_token`.
 * @throws {@link OiError} `ERR_READOUT` if it is not Jinja, does not show both once and in this
 *   order, or does not end at the beginning of an answer.
 */
export function frameLayout(source: string, { bosToken, eosToken }: ChatTokens): Layout {
  const constants = { bos_token: bosToken, eos_token: eosToken }
  const texts = ['state', 'question']
  const template = new MarkedTemplate(source, { texts, constants, hints })
  const { literals, slots } = template.cuts[0]!
  if (slots[0] !== 'state') {
    throw refusal(
      'the question stands before the state: expected {{ state }} first, as all questions of a ' +
        'request share what stands before them',
    )
  }
  const [head, middle, tail] = literals as [string, string, string]
  requireAnswerPlace(tail, eosToken)
  // White space behind the state is tokenized together with the state.
  const between = /^\s*/.exec(middle)![0]
  const labelPrefix = /[\p{L}\p{N}:]$/u.test(tail) ? ' ' : ''
  return { head, between, turn: middle.slice(between.length), tail, labelPrefix }
}

const hints = {
  question: 'what a question says is worded under "wording", and its name is never shown',
}

function requireAnswerPlace(tail: string, eosToken: string): void {
  if (tail.trim() === '') {
    throw refusal(
      'there is no place for the answer: expected the beginning of the reply behind {{ question }}',
    )
  }
  if (eosToken !== '' && tail.trimEnd().endsWith(eosToken)) {
    throw refusal(
      `there is no place for the answer: it ends with ${eosToken}, expected the beginning of the ` +
        'reply behind it',
    )
  }
  const open = openThinking(tail)
  if (open !== undefined) {
    throw refusal(
      `there is no place for the answer: ${open} is open at the end, expected it to be closed`,
    )
  }
}

function refusal(message: string): OiError {
  return new OiError('ERR_READOUT', message)
}
