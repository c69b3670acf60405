/**
 * The spools that a writer has yet to take in: those of earlier runs, and its own server's.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import { counted } from '../../api/words.js'
import { isSqliteError } from '../store/sqlite.js'
import { findSpools, takeIn } from './spool.js'
import { removeOldParts } from './spool-files.js'
import { isRefusedValue, reasonOf } from '../store/store-errors.js'
import { type Booked, noneAside } from './write-bookings.js'

/** Bookings wait while spools are taken in. */
const mostAtOnce = 20

export class SpoolIntake {
  #left: string[]
  #done: string[] = []
  /** Answers in spools that the operator has not been told of. */
  #answers: number | undefined

  constructor(dataDir: string) {
    this.#left = findSpools(dataDir)
    removeOldParts()
  }

  get left(): number {
    return this.#left.length
  }

  add(paths: readonly string[]): void {
    this.#left.push(...paths)
  }

  /**
   * Takes in some. A failure of the accounts ends it until the next call.
   *
   * @param note - Takes a sentence for the operator.
   */
  run(db: Sqlite.Database, note: (text: string) => void): Booked {
    let all = noneAside
    for (const path of this.#left.slice(0, mostAtOnce)) {
      try {
        const { answers, setAside, reason } = takeIn(db, path)
        this.#answers = (this.#answers ?? 0) + answers
        all = { setAside: all.setAside + setAside, reason: reason || all.reason }
      } catch (error) {
        if (isSqliteError(error) && !isRefusedValue(error)) break
        // If it is gone, another process has taken it in.
        const { code } = error as NodeJS.ErrnoException
        if (code !== 'ENOENT') note(`${path} could not be taken in: ${reasonOf(error)}`)
      }
      this.#left.shift()
      this.#done.push(path)
    }
    if (this.#left.length === 0 && this.#answers !== undefined) {
      note(`The usage of ${counted(this.#answers, 'answer')} has been taken in from spools`)
      this.#answers = undefined
    }
    return all
  }

  /** Those that are taken in, or cannot be, since the last call. */
  takeDone(): readonly string[] {
    const done = this.#done
    this.#done = []
    return done
  }
}
