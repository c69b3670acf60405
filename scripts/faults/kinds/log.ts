/**
 * Who reads the server's log stops reading, or goes.
 *
 * @module
 */

import type { Kind } from '../kind.js'

export const log: Kind = {
  says: "stops reading the server's log, or closes it",
  prepare: ({ server, random, upTo }) => ({
    strike: async () => {
      if (random.next() < 0.5) await server.ignoreLog(upTo(20))
      else server.loseLog()
    },
  }),
}
