/**
 * Rows that say nearly the same, found by the words of their states.
 *
 * What was fitted on one of two near copies is not judged by the other: they are held out together.
 * Near copies have four fifths of the shorter one's words and pairs of neighbouring words in common,
 * and the shorter one is at least half as long: another case, other punctuation, a word more or less.
 * A number is a word as any other: `Ticket 7` and `Ticket 8` are no copies, two letters of thirty
 * words that differ in a number are.
 *
 * Words are compared by a bottom-k sketch, so that long states cost no more memory than short ones.
 *
 * @see A. Broder, "On the resemblance and containment of documents", 1997.
 * @module
 */

import { entriesOf, isJsonObject, stringifyJson } from '../api/json.js'
import type { Json } from '../api/json.js'
import { type Pictured, picturesBeside } from './split.js'

/** The words of one state. */
export interface Sketch {
  /** The smallest hashes, ascending; all of them if there are at most {@link kept}. */
  readonly hashes: Uint32Array
  /** How many words and pairs there are in all. */
  readonly size: number
}

/** A labelled row that may be a near copy of others. */
export interface SketchedRow {
  /** Its name; the same for rows that belong together in any case. */
  readonly row: string
  /** Undefined if it has none, or is about pictures. */
  readonly sketch: Sketch | undefined
}

const kept = 128
/** Hashes under which a row is looked up, and rows that are kept under each: the latest ones. */
const [lookedUp, listed] = [12, 64]
const shared = 0.8
const leastRatio = 0.5
/** A longer word is data: a picture in base64, say. */
const longestWord = 200

/** The words of a request's state. Pictures have none: two pictures are never near copies. */
export function sketchOf({ state, ...beside }: Pictured): Sketch | undefined {
  if (picturesBeside(beside).length > 0) return undefined
  const words = wordsOf(state)
  if (words.length === 0 || words.some((word) => word.length > longestWord)) return undefined
  const hashes = new Set<number>()
  let before = ''
  // The ends are neighbours too: so the first and the last word count as much as others.
  for (const word of [...words, '']) {
    if (word !== '') hashes.add(hashOf(word))
    hashes.add(hashOf(`${before} ${word}`))
    before = word
  }
  return { hashes: Uint32Array.from(hashes).sort().slice(0, kept), size: hashes.size }
}

/**
 * The group of each row, by its name: near copies of near copies are in one group.
 *
 * @returns Row -> the name of its group, which is the first of its rows' names in their own order.
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

/** Whether one of the states is nearly the other. */
export function areNearCopies(a: Sketch, b: Sketch): boolean {
  const [short, long] = a.size < b.size ? [a, b] : [b, a]
  if (short.size < leastRatio * long.size) return false
  return inCommon(a, b) >= shared * short.size
}

/** How many words and pairs two states share: counted if both are sketched whole, else estimated. */
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

/** Scripts that put no space between words: each character is one. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu
const wordPattern = /[\p{L}\p{M}\p{N}]+/gu

/** Texts as their words; of records, numbers and the like with their names. */
function wordsOf(value: Json, name = ''): string[] {
  if (typeof value === 'string') {
    const text = value.normalize('NFKC').toLowerCase().replace(unspaced, ' $& ')
    return text.match(wordPattern) ?? []
  }
  if (Array.isArray(value)) return value.flatMap((item) => wordsOf(item, name))
  if (isJsonObject(value)) return entriesOf(value).flatMap(([key, item]) => wordsOf(item, key))
  return [`${name}=${stringifyJson(value)}`]
}

/** FNV-1a, and murmur3's last steps, so that the smallest hashes are of any words. */
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

  /** The first of both names leads, so that a group's name does not depend on the order. */
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
