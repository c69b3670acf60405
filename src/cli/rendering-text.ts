/**
 * The prompt of a request, as `oi models inspect --render` shows it.
 *
 * @module
 */

import { keysOf } from '../api/json.js'
import type { PromptPart } from '../engine/types.js'
import type { Reader, Readout, Rendering } from '../prompt/readout.js'

export interface ShownPrompt {
  /** What all questions share. */
  readonly prefix: readonly PromptPart[]
  readonly questions: readonly {
    readonly name: string
    readonly type: string
    readonly parts: readonly PromptPart[]
    /** What the model may answer for each option. */
    readonly labels: readonly { readonly option: string; readonly labels: readonly string[] }[]
  }[]
}

export function showPrompt({ input, readers }: Rendering, readout: Readout): ShownPrompt {
  return {
    prefix: input.prefix,
    questions: readers.map((reader, i) => ({
      name: reader.name,
      type: reader.question.type,
      parts: input.suffixes[i]!.parts,
      labels: labelsOf(reader, readout),
    })),
  }
}

function labelsOf({ question, forms }: Reader, { labels, noulForms }: Readout) {
  if (question.type === 'noul') {
    return [
      { option: 'yes', labels: noulForms.yes },
      { option: 'no', labels: noulForms.no },
    ]
  }
  // One option has no label: its answer is known.
  const options = question.type === 'choice' ? keysOf(question.criteria) : question.criteria.keys()
  return [...options]
    .slice(0, forms.length)
    .map((option, i) => ({ option: String(option), labels: [labels[i]!] }))
}

/**
 * For people: every line of text behind a mark of its part, and `⏎` for every line break in it, so
 * that what is seen is exactly what is there.
 */
export function promptText({ prefix, questions }: ShownPrompt): string {
  const blocks = questions.map(({ name, type, parts, labels }) => {
    const meanings = labels.map(({ option, labels }) => {
      return `${labels.map((label) => JSON.stringify(label)).join(' ')} = ${option}`
    })
    const listed = meanings.length === 0 ? 'none, there is one option' : meanings.join(', ')
    return `question ${JSON.stringify(name)} (${type})\n${partsText(parts)}labels  ${listed}\n`
  })
  const legend = 'T: trusted, control tokens count. U: user, plain text. ⏎: a line break.\n'
  return [legend, `shared prefix\n${partsText(prefix)}`, ...blocks].join('\n')
}

function partsText(parts: readonly PromptPart[]): string {
  return parts
    .map(({ text, trusted }) => {
      const lines = text.replaceAll('\n', '⏎\n').replace(/\n$/, '').split('\n')
      return lines.map((line) => `  ${trusted ? 'T' : 'U'} │ ${visible(line)}\n`).join('')
    })
    .join('')
}

/** Control characters as JSON writes them. */
function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
