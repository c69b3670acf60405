/**
 * The load of layers/front.ts, in its own process: its result is printed as JSON.
 *
 *     node dist/scripts/bench/front-load.js PORT KEY SECONDS
 *
 * @module
 */

import { prepareRequest } from './connection.js'
import { closedLoop, during } from './load.js'

const connections = 32
const bodyBytes = 4096

const [port, key, seconds] = process.argv.slice(2)
const request = prepareRequest(key!, bodyText())
const next = during(Number(seconds), () => request)
console.log(JSON.stringify(await closedLoop({ port: Number(port), connections, next })))

/** A support case with a question of each type, filled up to its size. */
function bodyText(): string {
  const questions = {
    refund: { type: 'noul', instructions: 'Does the customer want money back?' },
    team: {
      type: 'choice',
      instructions: 'Which team should handle this?',
      criteria: { billing: 'payments and invoices', shipping: 'parcels', support: 'all else' },
    },
    urgency: {
      type: 'score',
      instructions: 'How urgent is it?',
      criteria: ['can wait', 'this week', 'today', 'at once'],
    },
  }
  const sentence = 'My card was charged twice for order 4711, and nobody has answered me yet. '
  const rest = bodyBytes - JSON.stringify({ state: '', questions }).length
  return JSON.stringify({ state: sentence.repeat(100).slice(0, rest), questions })
}
