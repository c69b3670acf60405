/**
 * A complete example request of each type.
 *
 * @module
 */

import type { QuestionType } from './drafts.js'
import type { DraftQuestion } from './drafts.js'

export interface Example {
  readonly type: QuestionType
  readonly title: string
  readonly state: string
  readonly question: Partial<DraftQuestion>
}

export const examples: readonly Example[] = [
  {
    type: 'noul',
    title: 'Yes or no',
    state: 'Hi, I was charged twice for my subscription this month. Please return one payment.',
    question: {
      name: 'refund',
      instructions: 'Does the customer want money back?',
      yes: 'they ask for a refund or a returned payment',
      no: 'they ask for something else',
    },
  },
  {
    type: 'choice',
    title: 'Choice',
    state: 'The app closes by itself whenever I open the camera. It began with the last update.',
    question: {
      name: 'team',
      instructions: 'Which team should answer?',
      options: [
        { name: 'billing', meaning: 'payments, invoices, refunds' },
        { name: 'technical', meaning: 'errors, crashes, things that do not work' },
        { name: 'sales', meaning: 'questions before buying' },
      ],
    },
  },
  {
    type: 'score',
    title: 'Score',
    state: 'Third time I write to you. Nobody answers. If nothing happens today I cancel.',
    question: {
      name: 'urgency',
      instructions: 'How urgent is this message?',
      options: [
        { name: '', meaning: 'can wait a week' },
        { name: '', meaning: 'should be answered within days' },
        { name: '', meaning: 'should be answered today' },
        { name: '', meaning: 'must be answered at once' },
      ],
    },
  },
]
