/**
 * Questions as fields of a form, and as JSON.
 *
 * @module
 */

import { entriesOf, isJsonObject, type Json, objectFromEntries } from '../../api/json-value.js'

export type QuestionType = 'noul' | 'choice' | 'score'

/** An option of a choice with its meaning; a level of a score has only the meaning. */
export interface DraftOption {
  readonly name: string
  readonly meaning: string
}

export interface DraftQuestion {
  /** Used by the page only. */
  readonly id: number
  readonly name: string
  readonly type: QuestionType
  readonly instructions: string
  readonly yes: string
  readonly no: string
  readonly options: readonly DraftOption[]
}

/** Larger than the ids of an earlier visit, which are kept. */
let lastId = Date.now()

export function newQuestion(type: QuestionType, taken: readonly DraftQuestion[]): DraftQuestion {
  return {
    ...{ id: ++lastId, name: freeName('question', taken), type },
    ...{ instructions: '', yes: '', no: '', options: [noOption, noOption] },
  }
}

export const noOption: DraftOption = { name: '', meaning: '' }

function freeName(wanted: string, taken: readonly DraftQuestion[]): string {
  const names = new Set(taken.map(({ name }) => name))
  if (!names.has(wanted)) return wanted
  for (let i = 2; ; i++) if (!names.has(`${wanted}_${i}`)) return `${wanted}_${i}`
}

/** The questions of a form for a request: empty rows are left out. */
export function questionsOf(drafts: readonly DraftQuestion[]): Json {
  return objectFromEntries(drafts.map((draft) => [draft.name, questionOf(draft)] as const))
}

function questionOf(draft: DraftQuestion): Json {
  const { type, instructions } = draft
  const members: [string, Json][] = [['type', type]]
  if (instructions.trim() !== '') members.push(['instructions', instructions])
  const criteria = criteriaOf(draft)
  if (criteria !== undefined) members.push(['criteria', criteria])
  return objectFromEntries(members)
}

function criteriaOf({ type, yes, no, options }: DraftQuestion): Json | undefined {
  if (type === 'noul') {
    const said = [
      ['true', yes],
      ['false', no],
    ].filter(([, text]) => text!.trim() !== '') as [string, string][]
    return said.length === 0 ? undefined : objectFromEntries(said)
  }
  if (type === 'score') {
    return options.map(({ meaning }) => meaning).filter((meaning) => meaning.trim() !== '')
  }
  const named = options.filter(({ name, meaning }) => name !== '' || meaning !== '')
  return objectFromEntries(named.map(({ name, meaning }) => [name, meaning] as const))
}

/** A mistake in a form that JSON could not express. */
export function mistakeIn(drafts: readonly DraftQuestion[]): string | undefined {
  const twice = repeated(drafts.map(({ name }) => name))
  if (twice !== undefined) return `Two questions are named “${twice}”.`
  for (const { type, name, options } of drafts) {
    if (type !== 'choice') continue
    const option = repeated(options.map(({ name }) => name).filter((name) => name !== ''))
    if (option !== undefined) return `“${name}” has two options named “${option}”.`
  }
  return undefined
}

function repeated(names: readonly string[]): string | undefined {
  return names.find((name, i) => names.indexOf(name) !== i)
}

type FromJson =
  | { readonly drafts: DraftQuestion[]; readonly reason?: undefined }
  | { readonly drafts?: undefined; readonly reason: string }

/** The form of questions, if it can show them without loss. */
export function draftsOf(questions: Json): FromJson {
  if (!isJsonObject(questions)) return { reason: 'Questions are an object, name to question.' }
  const drafts: DraftQuestion[] = []
  for (const [name, question] of entriesOf(questions)) {
    const draft = draftOf(name, question)
    if (typeof draft === 'string') return { reason: `“${name}”: ${draft}` }
    drafts.push(draft)
  }
  return { drafts }
}

function draftOf(name: string, question: Json): DraftQuestion | string {
  if (!isJsonObject(question)) return 'is no object'
  const { type, instructions = '', criteria = null, ...others } = question
  if (type !== 'noul' && type !== 'choice' && type !== 'score') return 'has no known type'
  if (Object.keys(others).length > 0) return `has “${Object.keys(others)[0]}”, which no field shows`
  if (typeof instructions !== 'string') return 'has instructions that are no text'
  const base: DraftQuestion = {
    ...{ id: ++lastId, name, type, instructions },
    ...{ yes: '', no: '', options: [noOption, noOption] },
  }
  if (type === 'noul') {
    if (criteria === null) return base
    if (!isJsonObject(criteria)) return 'has criteria that are no object'
    const { true: yes = '', false: no = '' } = criteria
    return isText(yes) && isText(no) ? { ...base, yes, no } : 'has criteria that are no texts'
  }
  if (type === 'score') {
    if (!Array.isArray(criteria) || !criteria.every(isText)) return 'has levels that are no texts'
    return { ...base, options: criteria.map((meaning) => ({ name: '', meaning })) }
  }
  if (!isJsonObject(criteria)) return 'has criteria that are no object'
  const options: DraftOption[] = []
  for (const [option, meaning] of entriesOf(criteria)) {
    if (meaning !== null && !isText(meaning))
      return `has “${option}” with a meaning that is no text`
    options.push({ name: option, meaning: meaning ?? '' })
  }
  return { ...base, options }
}

const isText = (value: unknown): value is string => typeof value === 'string'
