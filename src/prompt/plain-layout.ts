/**
 * The layout for a model without a chat template: state, question and the word `Answer:`.
 *
 * @module
 */

import { separator } from './chat-template.js'

/** The texts around the state and the question of one request. All are trusted. */
export interface Layout {
  /** Before the state. */
  readonly head: string
  /** Between state and question; plain text, never control tokens. */
  readonly between: string
  /** Trusted text behind `between`, as the end of a message and the beginning of the next. */
  readonly turn?: string
  /** The part of the text between them that is tokenized with the question (cut-as-whole.ts). */
  readonly lead?: string
  /** Behind the question. The label follows at once. */
  readonly tail: string
  /** The text before a reply that plain text would have at that place. */
  readonly labelPrefix: '' | ' '
}

export const plainLayout: Layout = {
  head: '',
  between: separator,
  tail: '\n\nAnswer:',
  labelPrefix: ' ',
}
