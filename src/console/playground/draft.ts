/**
 * The draft of a request: kept by the playground and Compare, and sent.
 *
 * @module
 */

import { stringifyJson } from '../../api/json-value.js'
import { type DraftQuestion, mistakeIn, questionsOf } from './drafts.js'
import { checkJson, type Mistake, positionOf, stepsOf } from './json-text.js'
import type { ApiError } from '../server.js'

export interface DraftState {
  readonly form: 'text' | 'json'
  readonly text: string
  /** Data URLs of the images before the state. */
  readonly images: readonly string[]
}

export interface DraftQuestions {
  readonly form: 'fields' | 'json'
  readonly fields: readonly DraftQuestion[]
  readonly json: string
}

export const noQuestions: DraftQuestions = { form: 'fields', fields: [], json: '' }

/** JSON, or the reason why it cannot be sent. */
export type Written =
  | { readonly json: string; readonly reason?: undefined }
  | { readonly json?: undefined; readonly reason: string }

export function writtenState({ form, text, images }: DraftState): Written {
  if (form === 'text') {
    if (text.trim() === '' && images.length === 0) return { reason: 'The state is empty.' }
    return { json: JSON.stringify(text) }
  }
  const { value, mistake } = checkJson(text)
  return mistake ? { reason: `State: ${mistake.message}` } : { json: stringifyJson(value) }
}

export function writtenQuestions(questions: DraftQuestions): Written {
  if (questions.form === 'json') {
    const { value, mistake } = checkJson(questions.json)
    return mistake ? { reason: `Questions: ${mistake.message}` } : { json: stringifyJson(value) }
  }
  if (questions.fields.length === 0) return { reason: 'There is no question yet.' }
  const reason = mistakeIn(questions.fields)
  if (reason !== undefined) return { reason }
  return { json: stringifyJson(questionsOf(questions.fields)) }
}

/** The text of a request; its names keep their order, its numbers their digits. */
export function bodyOf(
  state: string,
  questions: string,
  others: {
    /** JSON of an array. */
    readonly images?: string | undefined
    readonly model?: string | undefined
    readonly workspaceId?: number | undefined
  },
): string {
  const { images, model, workspaceId } = others
  const members = [
    ...(images === undefined || images === '[]' ? [] : [`"images":${images}`]),
    `"state":${state}`,
    `"questions":${questions}`,
    ...(model === undefined || model === '' ? [] : [`"model":${JSON.stringify(model)}`]),
    ...(workspaceId === undefined ? [] : [`"workspace_id":${workspaceId}`]),
  ]
  return `{${members.join(',')}}`
}

/** The mistake in a JSON text: its syntax, or the server's error about a place in it. */
export function mistakeAt(
  text: string,
  root: 'state' | 'questions',
  error: ApiError | undefined,
): Mistake | undefined {
  const { mistake } = checkJson(text)
  if (mistake !== undefined) return mistake
  const steps = placeIn(root, error)
  if (steps === undefined) return undefined
  return { message: error!.message, at: positionOf(text, steps) }
}

/** The steps below `root` that an error is about; undefined if it is about something else. */
export function placeIn(
  root: 'state' | 'questions',
  error: ApiError | undefined,
): readonly (string | number)[] | undefined {
  if (error?.param === undefined) return undefined
  const [first, ...steps] = stepsOf(error.param)
  return first === root ? steps : undefined
}
