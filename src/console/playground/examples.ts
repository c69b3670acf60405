/**
 * A complete example request of each type.
 *
 * @module
 */

import { type DraftQuestions, type DraftState, noQuestions } from './draft.js'
import { type DraftQuestion, newQuestion, type QuestionType } from './drafts.js'

interface ExampleQuestion extends Partial<DraftQuestion> {
  readonly type: QuestionType
}

export interface Example {
  readonly title: string
  readonly state: string
  readonly questions: readonly ExampleQuestion[]
}

/** The first request of the README; a test compares them. */
export const ticket: Example = {
  title: 'Ticket',
  state: 'Ticket 4711: I was charged twice this month, please refund the second payment.',
  questions: [
    { type: 'noul', name: 'billing', instructions: 'Is this about a payment?' },
    {
      type: 'choice',
      name: 'team',
      instructions: 'Which team should answer?',
      options: [
        { name: 'accounts', meaning: 'payments and refunds' },
        { name: 'technical', meaning: 'faults of the product' },
        { name: 'other', meaning: '' },
      ],
    },
    {
      type: 'score',
      name: 'urgency',
      instructions: 'How urgent is it?',
      options: [
        { name: '', meaning: 'can wait' },
        { name: '', meaning: 'this week' },
        { name: '', meaning: 'today' },
      ],
    },
  ],
}

export const examples: readonly Example[] = [
  ticket,
  {
    title: 'Yes or no',
    state: 'Hi, I was charged twice for my subscription this month. Please return one payment.',
    questions: [
      {
        type: 'noul',
        name: 'refund',
        instructions: 'Does the customer want money back?',
        yes: 'they ask for a refund or a returned payment',
        no: 'they ask for something else',
      },
    ],
  },
  {
    title: 'Choice',
    state: 'The app closes by itself whenever I open the camera. It began with the last update.',
    questions: [
      {
        type: 'choice',
        name: 'team',
        instructions: 'Which team should answer?',
        options: [
          { name: 'billing', meaning: 'payments, invoices, refunds' },
          { name: 'technical', meaning: 'errors, crashes, things that do not work' },
          { name: 'sales', meaning: 'questions before buying' },
        ],
      },
    ],
  },
  {
    title: 'Score',
    state: 'Third time I write to you. Nobody answers. If nothing happens today I cancel.',
    questions: [
      {
        type: 'score',
        name: 'urgency',
        instructions: 'How urgent is this message?',
        options: [
          { name: '', meaning: 'can wait a week' },
          { name: '', meaning: 'should be answered within days' },
          { name: '', meaning: 'should be answered today' },
          { name: '', meaning: 'must be answered at once' },
        ],
      },
    ],
  },
]

/** The drafts of an example. */
export function draftsOfExample({ state, questions }: Example): {
  readonly state: DraftState
  readonly questions: DraftQuestions
} {
  const fields: DraftQuestion[] = []
  for (const { type, ...parts } of questions) fields.push(newQuestion(type, fields, parts))
  return {
    state: { form: 'text', text: state, images: [] },
    questions: { ...noQuestions, fields },
  }
}
