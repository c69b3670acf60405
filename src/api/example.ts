/**
 * The request that everything shows first: the README, the first start of a server, the OpenAPI
 * document and the playground.
 *
 * @module
 */

/** One question of each type. */
export const example = {
  state: 'Ticket 4711: I was charged twice this month, please refund the second payment.',
  questions: {
    billing: { type: 'noul', instructions: 'Is this about a payment?' },
    team: {
      type: 'choice',
      instructions: 'Which team should answer?',
      criteria: { accounts: 'payments and refunds', technical: 'faults of the product', other: '' },
    },
    urgency: {
      type: 'score',
      instructions: 'How urgent is it?',
      criteria: ['can wait', 'this week', 'today'],
    },
  },
}
