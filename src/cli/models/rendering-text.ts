/**
 * The prompt of a request, as `oi models inspect --render` shows it.
 *
 * @module
 */

import { keysOf } from '../../api/json.js'
import type { Question } from '../../decide/types.js'
import type { PromptPart, Suffix } from '../../engine/types.js'
import type { Rendering } from '../../prompt/types.js'
import { meaningsOf } from '../../scoring/meanings.js'

/** A part as shown: an image has only its size. */
type ShownPart = Omit<PromptPart, 'image'> & {
  readonly image?: { readonly width: number; readonly height: number }
}

/** A suffix: most questions have one, some have several. */
interface ShownSuffix {
  readonly parts: readonly ShownPart[]
  /** The possible answers of the model; none if there is only one option. */
  readonly labels: readonly ShownLabel[]
}

interface ShownLabel {
  readonly label: string
  readonly token: number
  /** Its meaning: `yes` or `no`, names of options, or levels counted from 0. */
  readonly options: readonly string[]
}

export interface ShownPrompt {
  /** The prefix that all questions share. */
  readonly prefix: readonly ShownPart[]
  readonly questions: readonly {
    readonly name: string
    readonly type: string
    readonly suffixes: readonly ShownSuffix[]
  }[]
}

/** @param tokenTexts - From the readout that rendered the prompt. */
export function showPrompt(
  { input, readers }: Rendering,
  tokenTexts: ReadonlyMap<number, string>,
): ShownPrompt {
  let at = 0
  return {
    prefix: input.prefix.map(({ image, ...part }) =>
      image ? { ...part, image: { width: image.width, height: image.height } } : part,
    ),
    questions: readers.map(({ name, question, reading }) => {
      const options = optionsOf(question)
      const suffixes = meaningsOf(reading).map((meanings) => {
        const { parts, candidates } = input.suffixes[at++]!
        return { parts, labels: labelsOf(candidates, meanings, options, tokenTexts) }
      })
      return { name, type: question.type, suffixes }
    }),
  }
}

function labelsOf(
  candidates: Suffix['candidates'],
  meanings: readonly (readonly number[])[],
  options: readonly string[],
  tokenTexts: ReadonlyMap<number, string>,
): ShownLabel[] {
  return Array.from(candidates, (token, i) => ({
    label: tokenTexts.get(token) ?? `token ${token}`,
    token,
    options: (meanings[i] ?? []).map((option) => options[option]!),
  }))
}

/** In the order of readings. */
function optionsOf(question: Question): readonly string[] {
  if (question.type === 'noul') return ['no', 'yes']
  if (question.type === 'choice') return keysOf(question.criteria)
  return question.criteria.map((_, level) => String(level))
}

/**
 * For people: every line of text behind a mark of its part, and `⏎` for every line break in it, so
 * that the prompt is shown exactly.
 */
export function promptText({ prefix, questions }: ShownPrompt): string {
  const blocks = questions.map(({ name, type, suffixes }) => {
    const shown = suffixes.map(({ parts, labels }, i) => {
      const number = suffixes.length === 1 ? '' : `suffix ${i + 1} of ${suffixes.length}\n`
      return `${number}${partsText(parts)}labels  ${labelsText(labels)}\n`
    })
    return `question ${JSON.stringify(name)} (${type})\n${shown.join('')}`
  })
  const legend =
    'T: trusted, with control tokens. U: user, plain text. I: an image. ⏎: a line break.\n'
  return [legend, `shared prefix\n${partsText(prefix)}`, ...blocks].join('\n')
}

/** Labels of the same meaning are listed together: `"Yes" "yes" = yes, "A" = x | y`. */
function labelsText(labels: readonly ShownLabel[]): string {
  if (labels.length === 0) return 'none, there is one option'
  const byMeaning = new Map<string, string[]>()
  for (const { label, options } of labels) {
    const meaning = options.length === 0 ? 'nothing' : options.map(visible).join(' | ')
    byMeaning.set(meaning, [...(byMeaning.get(meaning) ?? []), JSON.stringify(label)])
  }
  return [...byMeaning].map(([meaning, own]) => `${own.join(' ')} = ${meaning}`).join(', ')
}

function partsText(parts: readonly ShownPart[]): string {
  return parts
    .map(({ text, trusted, image }) => {
      if (image !== undefined) return `  I │ ${image.width} × ${image.height} pixels\n`
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
