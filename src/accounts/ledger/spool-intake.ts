/**
 * The spools that a writer has yet to take in, those of earlier runs and its own server's; and what
 * it tells with its next reply.
 *
 * @module
 */

import { unlinkSync } from 'node:fs'
import { counted } from '../../api/words.js'
import { findSpools, type TakenIn } from './spool.js'
import { removeOldParts, type SpoolPlace } from './spool-files.js'
import { reasonOf } from '../store/store-errors.js'
import { type Booked, noneAside } from './write-bookings.js'
import type { WriteReply } from './write-request.js'

/** Bookings wait while spools are taken in. */
const mostAtOnce = 20

export class SpoolIntake {
  #left: string[]
  #done: string[] = []
  /** Answers in spools that the operator has not been told of. */
  #answers: number | undefined
  #notes: string[] = []
  #aside = noneAside

  constructor(place: SpoolPlace) {
    this.#left = findSpools(place)
    removeOldParts(place)
  }

  add(paths: readonly string[]): void {
    this.#left.push(...paths)
  }

  /** Some to take in now, in their order. */
  next(): readonly string[] {
    return this.#left.slice(0, mostAtOnce)
  }

  /** The next one is taken in, and in no file any more. */
  took(path: string, taken: TakenIn): void {
    unlinkSync(path)
    this.#answers = (this.#answers ?? 0) + taken.answers
    this.#end(path)
    this.noteAside(taken)
  }

  /** The next one cannot be taken in. */
  couldNot(path: string, error: unknown): void {
    // If it is gone, another process has taken it in.
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') this.#notes.push(`${path} could not be taken in: ${reasonOf(error)}`)
    this.#end(path)
  }

  /** After some. */
  tell(): void {
    if (this.#left.length > 0 || this.#answers === undefined) return
    const answers = counted(this.#answers, 'answer')
    this.#notes.push(`The usage of ${answers} has been taken in from spools`)
    this.#answers = undefined
  }

  #end(path: string): void {
    this.#left.shift()
    this.#done.push(path)
  }

  /** Notes bookings that could not be made, of spools or others. */
  noteAside({ setAside, reason }: Booked): void {
    this.#aside = {
      setAside: this.#aside.setAside + setAside,
      reason: reason || this.#aside.reason,
    }
  }

  /** What has happened since the last call. */
  takeNews(): Pick<WriteReply, 'notes' | 'setAside' | 'takenIn' | 'spoolsLeft'> {
    const [notes, setAside, takenIn] = [this.#notes, this.#aside, this.#done]
    this.#notes = []
    // The operator may be told of them later.
    this.#aside = { ...setAside, setAside: 0 }
    this.#done = []
    return { notes, setAside, takenIn, spoolsLeft: this.#left.length }
  }
}
