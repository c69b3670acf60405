/**
 * The template of a pass that has names in braces in the places of a caller's texts, as a
 * reranker's `{query}` and `{document}`.
 *
 * White space that touches such a place is tokenized with the text there, as it is where a whole
 * prompt is tokenized at once: byte-pair vocabularies have tokens of a blank and a word, or of a
 * question mark and a line break.
 *
 * @module
 */

import type { PromptPart } from '../../engine/types.js'
import { OiError } from '../../errors.js'

interface Place<Name extends string> {
  readonly name: Name
  readonly before: string
  readonly after: string
}

type Segment<Name extends string> = PromptPart | Place<Name>

export interface TextTemplate<Name extends string> {
  readonly source: string
  /** The names in the order in which they stand. */
  readonly order: readonly Name[]
  readonly whole: (texts: Readonly<Record<Name, string>>) => PromptPart[]
  /** The parts up to the place of a name, and from it on. */
  readonly before: (name: Name, texts: Readonly<Record<Name, string>>) => PromptPart[]
  readonly from: (name: Name, texts: Readonly<Record<Name, string>>) => PromptPart[]
}

/**
 * @param key - Its metadata key, for messages.
 * @throws {@link OiError} `ERR_READOUT` unless each name occurs once.
 */
export function parseTextTemplate<Name extends string>(
  key: string,
  source: string,
  names: readonly Name[],
): TextTemplate<Name> {
  for (const name of names) {
    if (source.split(`{${name}}`).length !== 2) {
      throw new OiError('ERR_READOUT', `${key}: expected {${name}} once`)
    }
  }
  const place = new RegExp(`(\\s*\\{(?:${names.join('|')})\\}\\s*)`)
  const segments = source
    .split(place)
    .filter((text) => text !== '')
    .map((text): Segment<Name> => {
      const name = names.find((own) => text.trim() === `{${own}}`)
      if (name === undefined) return { text, trusted: true }
      const [before, after] = text.split(`{${name}}`)
      return { name, before: before!, after: after! }
    })
  const placeOf = (name: Name) =>
    segments.findIndex((segment) => 'name' in segment && segment.name === name)
  return {
    source,
    order: names.toSorted((a, b) => placeOf(a) - placeOf(b)),
    whole: (texts) => filled(segments, texts),
    before: (name, texts) => filled(segments.slice(0, placeOf(name)), texts),
    from: (name, texts) => filled(segments.slice(placeOf(name)), texts),
  }
}

function filled<Name extends string>(
  segments: readonly Segment<Name>[],
  texts: Readonly<Record<Name, string>>,
): PromptPart[] {
  return segments.map((segment) => {
    if (!('name' in segment)) return segment
    return { text: segment.before + texts[segment.name] + segment.after, trusted: false }
  })
}
