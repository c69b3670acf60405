/**
 * The accounts' file: other processes hold it for long, and it is taken away and put back.
 *
 * @module
 */

import { renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import type { Kind } from '../kind.js'

/** Holds the write lock, as another process with a long write does. */
const writing = ['BEGIN IMMEDIATE']
/** Reads for long, which keeps concurrent writes in the write-ahead log. */
const reading = ['BEGIN', 'SELECT count(*) FROM keys']

export const accounts: Kind = {
  says: "holds the accounts' locks, and takes their file away for a while",
  prepare: ({ dataDir, random, tally, upTo }) => {
    const file = join(dataDir, 'accounts.db')
    const hold = async (statements: readonly string[], ms: number) => {
      const db = new Sqlite(file, { timeout: 0 })
      try {
        for (const statement of statements) {
          if (statement.startsWith('SELECT')) db.prepare(statement).all()
          else db.exec(statement)
        }
        await sleep(ms)
        db.exec('ROLLBACK')
      } catch {
        // The server holds it, or the disk is full: the next turn tries again.
      } finally {
        db.close()
      }
    }
    const takeAway = async (ms: number) => {
      const { ino } = statSync(file)
      renameSync(file, `${file}.away`)
      await sleep(ms)
      const put = statSync(file, { throwIfNoEntry: false })
      if (put !== undefined && put.ino !== ino) tally.violate('another accounts.db was made')
      renameSync(`${file}.away`, file)
    }
    return {
      strike: () =>
        random.pick([
          () => hold(writing, upTo(8)),
          () => hold(reading, upTo(30)),
          () => takeAway(upTo(4)),
        ])(),
    }
  },
}
