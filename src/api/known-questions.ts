/**
 * Caches questions: most callers ask the same questions about ever new states, and these need not
 * be read, checked and rendered again.
 *
 * Rules
 *   1. An entry is a text and the value read from it. A body has that value where it has exactly
 *      that text, whatever surrounds it.
 *   2. A text is kept when it comes for the second time: a text that comes once costs nothing.
 *   3. Requests share the value as one object: nothing may change it (`isShared`).
 *   4. All texts share one memory bound, and the oldest text goes first.
 *   5. A text is known within its scope alone: reading it takes less time then.
 *
 * @module
 */

import { noteShared } from './json-value.js'
import type { Json } from './json-value.js'

/** The maximum length of a text, and of the beginning by which it is found, in UTF-16 units. */
const [longest, beginning] = [16_384, 64]
/** The maximum number of beginnings, and of texts with the same beginning. */
const [mostBeginnings, mostAlike] = [256, 4]

interface Known {
  readonly text: string
  readonly value: Json
}

interface Alike {
  readonly known: Known[]
  /** Lengths of the last texts that were read and not kept. */
  readonly lengths: number[]
}

/** By scope, and there by their beginnings. */
type Scopes = Map<string, Map<string, Alike>>

/** The questions of one scope. */
export class ScopedQuestions {
  readonly #all: KnownQuestions
  readonly #scope: string

  constructor(all: KnownQuestions, scope: string) {
    this.#all = all
    this.#scope = scope
  }

  /** The entry whose text stands at this position, if any. */
  find(text: string, at: number): Known | undefined {
    const known = this.#all.find(this.#scope, text.slice(at, at + beginning))?.known
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
    const alike = this.#all.find(this.#scope, text.slice(start, start + beginning))
    if (alike === undefined) {
      const key = copied(text.slice(start, start + beginning))
      this.#all.add(this.#scope, key, { known: [], lengths: [length] })
    } else if (!alike.lengths.includes(length)) {
      push(alike.lengths, length)
    } else {
      push(alike.known, { text: copied(text.slice(start, end)), value })
      noteShared(value as object)
      alike.lengths.splice(alike.lengths.indexOf(length), 1)
    }
  }
}

export class KnownQuestions {
  readonly #scopes: Scopes = new Map()
  /** Where each beginning is; the oldest first. */
  readonly #added: { readonly scope: string; readonly key: string }[] = []

  /** @param scope - Who shares the questions: a text. */
  of(scope: string): ScopedQuestions {
    return new ScopedQuestions(this, scope)
  }

  find(scope: string, key: string): Alike | undefined {
    return this.#scopes.get(scope)?.get(key)
  }

  add(scope: string, key: string, alike: Alike): void {
    if (this.#added.length === mostBeginnings) this.#dropOldest()
    const beginnings = this.#scopes.get(scope) ?? new Map<string, Alike>()
    this.#scopes.set(scope, beginnings.set(key, alike))
    this.#added.push({ scope, key })
  }

  #dropOldest(): void {
    const { scope, key } = this.#added.shift()!
    const beginnings = this.#scopes.get(scope)!
    beginnings.delete(key)
    if (beginnings.size === 0) this.#scopes.delete(scope)
  }
}

/** Appends an item; if there are too many, the first is removed. */
function push<T>(list: T[], item: T): void {
  if (list.length === mostAlike) list.shift()
  list.push(item)
}

/** A slice keeps the whole text in memory, so it is copied. */
function copied(part: string): string {
  return Buffer.from(part, 'utf16le').toString('utf16le')
}
