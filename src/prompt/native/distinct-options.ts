/**
 * Tells apart options that a decision model's template would show as the same line.
 *
 * The template stays as the model was trained with it; only names and descriptions of options that
 * would have the same line become JSON strings, which have a clear end.
 *
 * @module
 */

import type { SystemoneTemplate } from './systemone-template.js'
import type { TemplateOption, TemplateQuestion } from './template-question.js'

/** The question with distinct options. */
export function distinct(
  question: TemplateQuestion,
  template: Pick<SystemoneTemplate, 'question'>,
): TemplateQuestion {
  const { options, type } = question
  if (type !== 'choice') return question
  const byText = new Map<string, number[]>()
  for (const i of suspects(options)) {
    // Each option alone and behind the same label: its line, whatever the template does.
    const option = { ...options[i]!, label: options[0]!.label }
    const { text } = template.question({ ...question, options: [option] })
    byText.set(text, [...(byText.get(text) ?? []), i])
  }
  const ambiguous = new Set([...byText.values()].filter((same) => same.length > 1).flat())
  if (ambiguous.size === 0) return question
  return {
    ...question,
    options: options.map((option, i) => (ambiguous.has(i) ? asJson(option) : option)),
  }
}

/**
 * Options whose lines could be the same with some separator: one's name begins with another's. They
 * are few, so trying them costs little.
 */
function suspects(options: readonly TemplateOption[]): ReadonlySet<number> {
  const byName = options.map(({ key }, i) => ({ key, i })).sort((a, b) => (a.key < b.key ? -1 : 1))
  const found = new Set<number>()
  const begun: typeof byName = []
  for (const one of byName) {
    while (begun.length > 0 && !one.key.startsWith(begun.at(-1)!.key)) begun.pop()
    for (const other of begun) {
      if (canBeSame(options[other.i]!, options[one.i]!)) found.add(other.i).add(one.i)
    }
    begun.push(one)
  }
  return found
}

/**
 * Whether some separator makes them the same: the rest of the longer name is in the description.
 */
function canBeSame(short: TemplateOption, long: TemplateOption): boolean {
  const more = long.key.slice(short.key.length)
  const [own, other] = [short.description ?? '', long.description ?? '']
  if (own === '') return false
  return other === '' ? more.endsWith(own) : own.length - other.length === more.length
}

function asJson({ key, description, label }: TemplateOption): TemplateOption {
  return {
    key: JSON.stringify(key),
    description: description && JSON.stringify(description),
    label,
  }
}
