/**
 * Requests that are refused: wrong keys, wrong bodies, states that are far too long.
 *
 * @module
 */

import type { Workspace } from '../accounts.js'
import { ask, authorization, book, type Turn, wrongBodyClient, wrongKeyClient } from '../clients.js'
import { type Kind, times } from '../kind.js'
import type { World } from '../world.js'

/** Just within the server's limit for bodies. */
const stateBytes = 4 * 2 ** 20 - 4096

export const wrong: Kind = {
  says: 'sends wrong keys and wrong bodies',
  prepare: (world) => ({
    clients: () => {
      const { key } = world.workspace('wrong')
      return [
        ...times(2, () => [wrongKeyClient(world, 'wrong keys'), 50] as const),
        [wrongBodyClient(world, 'wrong bodies', key), 50],
      ]
    },
  }),
}

export const long: Kind = {
  says: 'sends states of 4 MB, in words and in one word, which are refused',
  prepare: (world) => ({
    clients: () => {
      const workspace = world.workspace('long')
      const states = ['word '.repeat(stateBytes / 5), 'w'.repeat(stateBytes)]
      return states.map((state) => [tooLong(world, workspace, state), 200] as const)
    },
  }),
}

function tooLong(world: World, { name, key }: Workspace, state: string): Turn {
  const questions = { q: { type: 'noul', instructions: 'Is it so?' } }
  const text = JSON.stringify({ state, questions })
  return async () => {
    const outcome = await ask(world, 'too long', { headers: authorization(key), body: text })
    book(world, 'too long', name, outcome)
    if (outcome.status === 200) world.tally.violate('a state of 4 MB was answered')
  }
}
