/**
 * Finds rows with nearly the same text, by the words of their states.
 *
 * A fit on one of two near copies must not be judged by the other: near copies stay on one side.
 * Near copies share four fifths of the shorter state's words and pairs of neighbouring words, and
 * the shorter state is at least half as long: they differ in case, punctuation, or a word or two. A
 * number is a word like any other: `Ticket 7` and `Ticket 8` are no copies; two letters of thirty
 * words that differ in a number are.
 *
 * Words are compared by a bottom-k sketch, so that long states cost no more memory than short ones.
 *
 * @see A. Broder, "On the resemblance and containment of documents", 1997.
 * @module
 */

import { entriesOf, isJsonObject, stringifyJson } from '../../api/json.js'
import type { Json } from '../../api/json.js'
import { type StateWithImages, imagesBeside } from './split.js'

/** The words of one state. */
interface Sketch {
  /** The smallest hashes, ascending; all of them if there are at most {@link kept}. */
  readonly hashes: Uint32Array
  /** The number of all words and pairs. */
  readonly size: number
}

/** A labelled row that may be a near copy of others. */
export interface SketchedRow {
  /** Its name; rows that belong together in any case have the same name. */
  readonly row: string
  /** Undefined if it has no words, or is about images. */
  readonly sketch: Sketch | undefined
}

const kept = 128
/** How many hashes a row is looked up by, and how many rows, the latest, are kept under each. */
const [lookedUp, listed] = [12, 64]
const shared = 0.8
const leastRatio = 0.5
/** A longer word is data, such as an image in base64. */
const longestWord = 200

/** Sketches the words of a request's state. Images have none: two images are never near copies. */
export function sketchOf({ state, ...beside }: StateWithImages): Sketch | undefined {
  if (imagesBeside(beside).length > 0) return undefined
  const words = wordsOf(state)
  if (words.length === 0 || words.some((word) => word.length > longestWord)) return undefined
  const hashes = new Set<number>()
  let before = ''
  // The ends count as neighbours, so that the first and the last word weigh as much as others.
  for (const word of [...words, '']) {
    if (word !== '') hashes.add(hashOf(word))
    hashes.add(hashOf(`${before} ${word}`))
    before = word
  }
  return { hashes: Uint32Array.from(hashes).sort().slice(0, kept), size: hashes.size }
}

/**
 * Groups rows by name: near copies of near copies are in one group.
 *
 * @returns Row -> the name of its group: the first of its rows' names in sorted order.
 */
export function groupNearCopies(rows: Iterable<SketchedRow>): ReadonlyMap<string, string> {
  const groups = new Groups()
  const known = new Map<number, SketchedRow[]>()
  for (const row of rows) {
    if (groups.add(row.row) || row.sketch === undefined) continue
    const { hashes } = row.sketch
    const seen = new Set<SketchedRow>()
    for (const hash of hashes.subarray(0, lookedUp)) {
      let others = known.get(hash)
      if (others === undefined) known.set(hash, (others = []))
      for (const other of others) {
        if (seen.has(other)) continue
        seen.add(other)
        if (areNearCopies(row.sketch, other.sketch!)) groups.join(row.row, other.row)
      }
      others.push(row)
      if (others.length > listed) others.shift()
    }
  }
  return groups.names()
}

/** Whether two states are near copies. */
export function areNearCopies(a: Sketch, b: Sketch): boolean {
  const [short, long] = a.size < b.size ? [a, b] : [b, a]
  if (short.size < leastRatio * long.size) return false
  return inCommon(a, b) >= shared * short.size
}

/**
 * How many words and pairs two states share: counted if both sketches are complete, else estimated.
 */
function inCommon(a: Sketch, b: Sketch): number {
  const isWhole = a.size <= kept && b.size <= kept
  let [i, j, union, both] = [0, 0, 0, 0]
  while (i < a.hashes.length && j < b.hashes.length && (isWhole || union < kept)) {
    const [left, right] = [a.hashes[i]!, b.hashes[j]!]
    if (left <= right) i++
    if (right <= left) j++
    if (left === right) both++
    union++
  }
  if (isWhole) return both
  const resemblance = both / union
  return (resemblance * (a.size + b.size)) / (1 + resemblance)
}

/** Scripts without spaces between words: each character is a word. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu
const wordPattern = /[\p{L}\p{M}\p{N}]+/gu

/** The words of a value: of texts, their words; numbers and the like with their names. */
function wordsOf(value: Json, name = ''): string[] {
  if (typeof value === 'string') {
    const text = value.normalize('NFKC').toLowerCase().replace(unspaced, ' $& ')
    return text.match(wordPattern) ?? []
  }
  if (Array.isArray(value)) return value.flatMap((item) => wordsOf(item, name))
  if (isJsonObject(value)) return entriesOf(value).flatMap(([key, item]) => wordsOf(item, key))
  return [`${name}=${stringifyJson(value)}`]
}

/**
 * FNV-1a and the last steps of murmur3, so that the smallest hashes are a uniform sample of words.
 */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Disjoint sets of names. */
class Groups {
  readonly #parents = new Map<string, string>()

  /** @returns False if the name is new. */
  add(name: string): boolean {
    if (this.#parents.has(name)) return true
    this.#parents.set(name, name)
    return false
  }

  /** The smaller name leads, so that a group's name does not depend on the order. */
  join(a: string, b: string): void {
    const [first, second] = [this.#leaderOf(a), this.#leaderOf(b)]
    if (first < second) this.#parents.set(second, first)
    else this.#parents.set(first, second)
  }

  names(): ReadonlyMap<string, string> {
    return new Map([...this.#parents.keys()].map((name) => [name, this.#leaderOf(name)]))
  }

  #leaderOf(name: string): string {
    let leader = name
    for (;;) {
      const parent = this.#parents.get(leader)!
      if (parent === leader) break
      leader = parent
    }
    this.#parents.set(name, leader)
    return leader
  }
}
