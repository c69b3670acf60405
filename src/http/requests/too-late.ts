/**
 * What a client is told whose request was not answered in its time.
 *
 * @module
 */

import type { Decider } from '../../decide/types.js'
import { OiError } from '../../errors.js'

/**
 * @param what - `request` or `item`.
 * @param more - What is known of the wait, as {@link workOf}; may be empty.
 */
export function tooLate(what: string, limitMs: number, more: string): OiError {
  return new OiError('ERR_TIMEOUT', `The ${what} was not answered within ${limitMs} ms${more}`)
}

/**
 * How fast a model is at present and how long it still has to work, the late request included: how
 * much more time the request would have needed, at most. Empty before anything was measured.
 *
 * @param model - As in the request; undefined: the default model.
 */
export function workOf(
  { models, engines }: Pick<Decider, 'models' | 'engines'>,
  model: string | undefined,
): string {
  const asked = models.find((card) => {
    return model === undefined ? card.default : card.name === model || card.aliases.includes(model)
  })
  const name = asked?.name
  let rate = 0
  let tokens = 0
  for (const report of engines()) {
    if (report.model !== name) continue
    rate += report.stats.tokensPerSecond
    tokens += report.stats.queuedTokens
  }
  if (rate <= 0) return ''
  const seconds = Math.ceil(tokens / rate)
  return `; ${name} evaluates ${rate.toPrecision(3)} tokens a second, and had ${tokens} to do: about ${seconds} s more`
}
