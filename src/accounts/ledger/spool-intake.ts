/**
 * The spools that a writer has yet to take in: those of earlier runs, and its own server's.
 *
 * @module
 */

import { unlinkSync } from 'node:fs'
import { counted } from '../../api/words.js'
import { findSpools, type TakenIn } from './spool.js'
import { removeOldParts, type SpoolPlace } from './spool-files.js'
import { reasonOf } from '../store/store-errors.js'
import type { Booked } from './write-bookings.js'

/** Bookings wait while spools are taken in. */
const mostAtOnce = 20

export class SpoolIntake {
  #left: string[]
  #done: string[] = []
  /** Answers in spools that the operator has not been told of. */
  #answers: number | undefined

  constructor(place: SpoolPlace) {
    this.#left = findSpools(place)
    removeOldParts(place)
  }

  get left(): number {
    return this.#left.length
  }

  add(paths: readonly string[]): void {
    this.#left.push(...paths)
  }

  /** Some to take in now, in their order. */
  next(): readonly string[] {
    return this.#left.slice(0, mostAtOnce)
  }

  /** The next one is taken in, and in no file any more. */
  took(path: string, { answers, setAside, reason }: TakenIn): Booked {
    unlinkSync(path)
    this.#answers = (this.#answers ?? 0) + answers
    this.#end(path)
    return { setAside, reason }
  }

  /** The next one cannot be taken in. @param notes - Gets a sentence for the operator. */
  couldNot(path: string, error: unknown, notes: string[]): void {
    // If it is gone, another process has taken it in.
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') notes.push(`${path} could not be taken in: ${reasonOf(error)}`)
    this.#end(path)
  }

  /** After some: what the operator should know. */
  tell(notes: string[]): void {
    if (this.#left.length > 0 || this.#answers === undefined) return
    notes.push(`The usage of ${counted(this.#answers, 'answer')} has been taken in from spools`)
    this.#answers = undefined
  }

  #end(path: string): void {
    this.#left.shift()
    this.#done.push(path)
  }

  /** Those that are taken in, or cannot be, since the last call. */
  takeDone(): readonly string[] {
    const done = this.#done
    this.#done = []
    return done
  }
}
