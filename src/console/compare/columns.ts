/**
 * Columns of a comparison: how the same questions are asked. Answers at another temperature are
 * computed here from the logits of a reply, without a request.
 *
 * @module
 */

import { argMax, choiceConfidence, scoreConfidence } from '../../scoring/confidence.js'
import { softmax } from '../../scoring/softmax.js'
import { type Answer, choiceOf, noulOf, scoreOf } from '../playground/answer.js'

export interface CompareColumn {
  readonly id: number
  /** '' is the default model. */
  readonly model: string
  readonly orders: string
  /** As typed; '' is the model's own. */
  readonly temperature: string
}

/** @returns Undefined unless the text is a number above 0, at most 100. */
function readTemperature(text: string): number | undefined {
  const value = Number(text)
  return text.trim() !== '' && value > 0 && value <= 100 ? value : undefined
}

export function isComplete({ temperature }: CompareColumn): boolean {
  return temperature.trim() === '' || readTemperature(temperature) !== undefined
}

/** The answer at the column's temperature. */
export function inColumn(answer: Answer, column: CompareColumn): Answer {
  const temperature = readTemperature(column.temperature)
  if (temperature === undefined || answer.evidence === undefined) return answer
  const p = softmax(answer.evidence.logits, temperature)
  const evidence = { ...answer.evidence, temperature }
  // Logits of a noul are no, then yes.
  if (answer.type === 'noul') return { ...answer, evidence, ...noulOf(p[1]!) }
  const bars = answer.bars.map((bar, i) => ({ ...bar, p: p[i]! }))
  if (answer.type === 'choice') {
    return { ...answer, evidence, ...choiceOf(bars[argMax(p)]!.name, bars, choiceConfidence(p)) }
  }
  const score = p.reduce((sum, share, level) => sum + share * level, 0)
  return { ...answer, evidence, ...scoreOf(score, bars, scoreConfidence(p)) }
}

export function nameOf({ model, orders, temperature }: CompareColumn): string {
  const parts = [
    model === '' ? 'default model' : model,
    ...(orders === ''
      ? []
      : [orders === 'all' ? 'all orders' : `${orders} order${orders === '1' ? '' : 's'}`]),
    ...(temperature.trim() === '' ? [] : [`T ${temperature.trim()}`]),
  ]
  return parts.join(', ')
}
