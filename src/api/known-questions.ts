/**
 * Questions that were asked before: most callers ask the same ones about ever new states, and what
 * has been read, checked and rendered once need not be again.
 *
 * Rules
 *   1. What is known is a text and the value that was read from it. A body has that value where it
 *      has that very text, whatever stands around it.
 *   2. A text is kept when it comes for the second time: one that never comes again costs nothing.
 *   3. The value is the same object in each request: nobody changes it (`isShared`).
 *   4. Texts share a bound of memory, and the oldest goes first.
 *
 * @module
 */

import { noteShared } from './json-value.js'
import type { Json } from './json-value.js'

/** UTF-16 units of one text, and of the beginning by which it is found. */
const [longest, beginning] = [16_384, 64]
/** Beginnings that are known, and texts with the same one. */
const [mostBeginnings, mostAlike] = [256, 4]

interface Known {
  readonly text: string
  readonly value: Json
}

interface Alike {
  readonly known: Known[]
  /** Of the last texts that were read and not kept. */
  readonly lengths: number[]
}

export class KnownQuestions {
  readonly #beginnings = new Map<string, Alike>()

  /** What is known to stand there, with its text. */
  find(text: string, at: number): Known | undefined {
    const known = this.#beginnings.get(text.slice(at, at + beginning))?.known
    if (known === undefined) return undefined
    for (let i = 0; i < known.length; i++) {
      if (text.startsWith(known[i]!.text, at)) return known[i]
    }
    return undefined
  }

  /** Notes a value that had to be read, and the place of its text. */
  note(text: string, start: number, end: number, value: Json): void {
    const length = end - start
    if (length < beginning || length > longest) return
    const alike = this.#beginnings.get(text.slice(start, start + beginning))
    if (alike === undefined) {
      if (this.#beginnings.size === mostBeginnings) {
        this.#beginnings.delete(this.#beginnings.keys().next().value!)
      }
      const key = copied(text.slice(start, start + beginning))
      this.#beginnings.set(key, { known: [], lengths: [length] })
    } else if (!alike.lengths.includes(length)) {
      push(alike.lengths, length)
    } else {
      push(alike.known, { text: copied(text.slice(start, end)), value })
      noteShared(value as object)
      alike.lengths.splice(alike.lengths.indexOf(length), 1)
    }
  }
}

/** Adds a last one; of too many, the first goes. */
function push<T>(list: T[], item: T): void {
  if (list.length === mostAlike) list.shift()
  list.push(item)
}

/** A part of a text keeps the whole in memory, until it is copied. */
function copied(part: string): string {
  return Buffer.from(part, 'utf16le').toString('utf16le')
}
