/**
 * A complete example request of each type.
 *
 * @module
 */

import { example } from '../../api/example.js'
import type { Json } from '../../api/json-value.js'
import { type DraftQuestions, type DraftState, noQuestions } from './draft.js'
import { draftsOf } from './drafts.js'

export interface Example {
  readonly title: string
  readonly state: string
  readonly questions: Readonly<Record<string, Json>>
}

export const ticket: Example = { title: 'Ticket', ...example }

export const examples: readonly Example[] = [
  ticket,
  {
    title: 'Yes or no',
    state: 'Hi, I was charged twice for my subscription this month. Please return one payment.',
    questions: {
      refund: {
        type: 'noul',
        instructions: 'Does the customer want money back?',
        criteria: {
          true: 'they ask for a refund or a returned payment',
          false: 'they ask for something else',
        },
      },
    },
  },
  {
    title: 'Choice',
    state: 'The app closes by itself whenever I open the camera. It began with the last update.',
    questions: {
      team: {
        type: 'choice',
        instructions: 'Which team should answer?',
        criteria: {
          billing: 'payments, invoices, refunds',
          technical: 'errors, crashes, things that do not work',
          sales: 'questions before buying',
        },
      },
    },
  },
  {
    title: 'Score',
    state: 'Third time I write to you. Nobody answers. If nothing happens today I cancel.',
    questions: {
      urgency: {
        type: 'score',
        instructions: 'How urgent is this message?',
        criteria: [
          'can wait a week',
          'should be answered within days',
          'should be answered today',
          'must be answered at once',
        ],
      },
    },
  },
]

/** The drafts of an example. */
export function draftsOfExample({ state, questions }: Example): {
  readonly state: DraftState
  readonly questions: DraftQuestions
} {
  return {
    state: { form: 'text', text: state, images: [] },
    questions: { ...noQuestions, fields: draftsOf(questions).drafts! },
  }
}
