/**
 * The template of a pass through a model of hidden states (README.md): the places of the state, the
 * question and its options.
 *
 * @module
 */

import type { PromptPart } from '../../engine/types.js'
import { OiError } from '../../errors.js'

const names = ['state', 'question', 'options'] as const
type Name = (typeof names)[number]

/** Text of the template, or a name in its place. */
type Segment = PromptPart | Name

export interface PassTemplate {
  readonly source: string
  /** The parts common to all questions of a request, with the state. */
  prefix(state: readonly PromptPart[]): PromptPart[]
  /** All other parts. */
  suffix(question: string, options: readonly PromptPart[]): PromptPart[]
}

/**
 * @param key - Its metadata key, for messages.
 * @throws {@link OiError} `ERR_READOUT` unless each name occurs once, and the state first or last.
 */
export function parsePassTemplate(key: string, source: string): PassTemplate {
  const segments: Segment[] = source
    .split(/(\{(?:state|question|options)\})/)
    .filter((text) => text !== '')
    .map((text) => names.find((name) => text === `{${name}}`) ?? { text, trusted: true })
  const found = segments.filter((segment) => typeof segment === 'string')
  for (const name of names) {
    if (found.filter((other) => other === name).length !== 1) {
      throw new OiError('ERR_READOUT', `${key}: expected {${name}} once`)
    }
  }
  if (found[1] === 'state') {
    throw new OiError('ERR_READOUT', `${key}: expected {state} first or last`)
  }
  // Text between the state and its neighbour belongs to the state's half.
  const cut =
    found[0] === 'state'
      ? segments.indexOf(found[1]!)
      : segments.findLastIndex((segment) => segment === found[1]) + 1
  const halves = [segments.slice(0, cut), segments.slice(cut)] as const
  const [shared, own] = found[0] === 'state' ? halves : [halves[1], halves[0]]
  return {
    source,
    prefix: (state) => fill(shared, { state, question: [], options: [] }),
    suffix: (question, options) =>
      fill(own, { state: [], question: [{ text: question, trusted: false }], options }),
  }
}

function fill(segments: readonly Segment[], parts: Record<Name, readonly PromptPart[]>) {
  return segments.flatMap((segment) => (typeof segment === 'string' ? parts[segment] : [segment]))
}
