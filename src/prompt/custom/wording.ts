/**
 * The wording of questions, from a user's own templates.
 *
 * Rules
 *   1. The wording is plain text: control tokens are recognised only in the template around it.
 *   2. Each option and each level is one line, as in `letters@1`: no text can pass for another
 *      option.
 *   3. Different options have different lines, see `distinct-lines.ts`.
 *   4. The model never sees what no template names, such as the names of questions.
 *
 * @module
 */

import { entriesOf } from '../../api/json.js'
import type { Json } from '../../api/json.js'
import { OiError } from '../../errors.js'
import { ambiguousOptions } from '../distinct-lines.js'
import {
  instructionText,
  isBlank,
  jsonLine,
  labelWord,
  lineBreak,
  lineText,
  noulAsChoice,
  type Wording,
} from '../letters.js'
import { keepLastBreak } from '../jinja.js'
import { naming } from './faults.js'
import { MarkedTemplate, type Slots } from './marked-template.js'

const slots = {
  choice: { texts: ['options'], optional: ['instructions'], facts: ['label_word'] },
  option: { texts: ['label', 'name'], optional: ['description'] },
  score: {
    texts: ['levels'],
    optional: ['instructions'],
    flags: ['reversed'],
    facts: ['label_word'],
  },
  level: { texts: ['label'], optional: ['description'], facts: ['number', 'count'] },
  noul: { texts: [], optional: ['instructions', 'yes', 'no'], flags: ['reversed'] },
} as const satisfies Record<string, Slots>

type WordingName = keyof typeof slots
export const wordingNames = Object.keys(slots) as readonly WordingName[]

const instructions = '{% if instructions %}{{ instructions }}\n\n{% endif %}'
const yes = '{% if yes %}Yes: {{ yes }}\n{% endif %}'
const no = '{% if no %}No: {{ no }}\n{% endif %}'

/** The wording of `letters@1` as templates: the defaults. */
export const standardWording: Readonly<Record<WordingName, string>> = {
  choice:
    `${instructions}Options:\n{{ options }}\n\n` +
    'Answer with only the {{ label_word }} of the best option.',
  option: '{{ label }}: {{ name }}{% if description %} - {{ description }}{% endif %}',
  score:
    `${instructions}Levels, from the {% if reversed %}highest to the lowest` +
    '{% else %}lowest to the highest{% endif %}:\n{{ levels }}\n\n' +
    'Answer with only the {{ label_word }} of the level that fits best.',
  level:
    '{{ label }}: {% if description %}{{ description }}' +
    '{% else %}level {{ number }} of {{ count }}{% endif %}',
  noul:
    `${instructions}{% if reversed %}${no}${yes}{% else %}${yes}${no}{% endif %}` +
    "{% if yes or no %}{{ '\\n' }}{% endif %}Answer with only Yes or No.",
}

/**
 * @param given - Jinja by name.
 * @throws {@link OiError} `ERR_READOUT` naming the template, as {@link MarkedTemplate}; and if an
 *   option or a level may have several lines.
 */
export function createWording(given: Readonly<Partial<Record<WordingName, string>>>): Wording {
  const templates = Object.fromEntries(
    wordingNames.map((name) => [
      name,
      compile(name, keepLastBreak(given[name] ?? standardWording[name])),
    ]),
  ) as Record<WordingName, MarkedTemplate>
  const { choice, option, score, level, noul } = templates

  const choiceText: Wording['choiceText'] = (question, labels) => {
    const entries = entriesOf(question.criteria)
    const lineWith = (label: string, [name, description]: [string, Json], asJson: boolean) =>
      option.fill({
        label,
        name: asJson ? jsonLine(name) : lineText(name),
        description: lineOf(description, asJson),
      })
    const ambiguous = ambiguousOptions(entries, (entry, _, asJson) => lineWith('', entry, asJson))
    const lines = entries.map((entry, i) => lineWith(labels[i]!, entry, ambiguous[i]!))
    return choice.fill({
      instructions: instructionText(question.instructions),
      options: lines.join('\n'),
      label_word: labelWord(labels, entries.length),
    })
  }

  return {
    choiceText,
    scoreText: ({ instructions, criteria }, labels, reversed = false) => {
      const count = criteria.length
      const lineWith = (label: string, description: Json, i: number, asJson: boolean) =>
        level.fill({
          label,
          description: lineOf(description, asJson),
          number: String(reversed ? count - i : i + 1),
          count: String(count),
        })
      const ambiguous = ambiguousOptions(criteria, (...given) => lineWith('', ...given))
      const lines = criteria.map((one, i) => lineWith(labels[i]!, one, i, ambiguous[i]!))
      return score.fill({
        instructions: instructionText(instructions),
        levels: lines.join('\n'),
        label_word: labelWord(labels, count),
        reversed,
      })
    },
    noulText: ({ instructions, criteria }, reversed = false) =>
      noul.fill({
        instructions: instructionText(instructions),
        yes: lineOf(criteria?.true),
        no: lineOf(criteria?.false),
        reversed,
      }),
    noulChoiceText: (question, labels, reversed = false) =>
      choiceText(noulAsChoice(question, reversed), labels),
  }
}

function compile(name: WordingName, source: string): MarkedTemplate {
  return naming(`wording.${name}`, () => {
    const template = new MarkedTemplate(source, slots[name])
    if (name === 'option' || name === 'level') requireOneLine(template)
    return template
  })
}

function requireOneLine({ cuts }: MarkedTemplate): void {
  if (!cuts.some(({ literals }) => literals.some((text) => lineBreak.test(text)))) return
  throw new OiError('ERR_READOUT', 'expected one line, so that no text can pass for another one')
}

/** A text on one line; '' if it is missing. */
function lineOf(value: Json | undefined, asJson = false): string {
  if (isBlank(value)) return ''
  return asJson ? jsonLine(value) : lineText(value)
}
