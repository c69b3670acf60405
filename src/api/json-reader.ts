/**
 * The reader behind json.ts: reads one text to one value, in as many steps as the caller wants.
 *
 * On the hot path. A string without escapes is one slice; a string with escapes goes to
 * `JSON.parse`, which is faster than joining its pieces here. Open containers are kept in a list
 * and not on the stack, so that reading can stop and continue.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { maxDepth, noteLength, ObjectBuilder, RawNumber } from './json-value.js'
import type { Json } from './json-value.js'
import type { ScopedQuestions } from './known-questions.js'

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

/** Whole numbers with at most this many digits are exact doubles. */
const exactDigits = 15

const enum Char {
  Tab = 9,
  LineFeed = 10,
  Return = 13,
  Space = 32,
  Quote = 34,
  Comma = 44,
  Minus = 45,
  Point = 46,
  Zero = 48,
  Nine = 57,
  Colon = 58,
  OpenBracket = 91,
  Backslash = 92,
  CloseBracket = 93,
  LowerE = 101,
  OpenBrace = 123,
  CloseBrace = 125,
}

export function invalid(reason: string, position: number): OiError {
  return new OiError('ERR_BODY_INVALID', `body: not valid JSON: ${reason} at position ${position}`)
}

const byteOrderMark = 0xfeff

/** A character for people: one that cannot be seen by its number. */
function shown(codePoint: number): string {
  const character = String.fromCodePoint(codePoint)
  if (!/[\p{C}\p{Z}\p{M}]/u.test(character) || character === ' ') return JSON.stringify(character)
  const number = `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`
  return codePoint === byteOrderMark ? `a byte order mark (${number})` : number
}

/** Up to this length a loop over codes is faster than a pattern; beyond it, four times slower. */
const shortRun = 32
const plain = /[^"\\\u0000-\u001f]*/y

/** The position of the next quote, escape, control character or the end of the text. */
function plainEnd(text: string, start: number): number {
  const near = Math.min(text.length, start + shortRun)
  let at = start
  for (; at < near; at++) {
    const c = text.charCodeAt(at)
    if (c === Char.Quote || c === Char.Backslash || c < Char.Space) return at
  }
  if (at >= text.length) return at
  plain.lastIndex = at
  plain.test(text)
  return plain.lastIndex
}

/** An open container; for an object, with the name whose value comes next. */
type Open = { readonly start: number } & (
  { readonly array: Json[] } | { readonly object: ObjectBuilder; name: string }
)

export class Reader {
  readonly #text: string
  readonly #known: ScopedQuestions | undefined
  #at = 0
  /** From the outermost to the innermost. */
  readonly #open: Open[] = []
  #result: Json = null

  /** @param known - Known values of the outermost object's member `questions`. */
  constructor(text: string, known?: ScopedQuestions) {
    this.#text = text
    this.#known = known
  }

  /** The value, once the whole text has been read. */
  get result(): Json {
    return this.#result
  }

  /**
   * Reads on.
   *
   * @param count - Values to read at most, containers included.
   * @returns True at the end of the text; then `read` must not be called again.
   */
  read(count: number): boolean {
    for (let i = 0; i < count; i++) {
      const c = this.#space()
      const start = this.#at
      if (c === Char.OpenBrace) {
        const known = this.#atQuestions(1) && this.#known!.find(this.#text, start)
        if (known) {
          this.#at += known.text.length
          if (this.#put(known.value)) return true
          continue
        }
        this.#enter()
        if (this.#space() !== Char.CloseBrace) {
          this.#open.push({ start, object: new ObjectBuilder(), name: this.#name() })
          continue
        }
        this.#at++
        if (this.#put({})) return true
      } else if (c === Char.OpenBracket) {
        this.#enter()
        if (this.#space() !== Char.CloseBracket) {
          this.#open.push({ start, array: [] })
          continue
        }
        this.#at++
        if (this.#put([])) return true
      } else if (this.#put(this.#scalar(c))) {
        return true
      }
    }
    return false
  }

  /** Adds a value to its container, and closes containers that end after it. @returns As `read`. */
  #put(value: Json): boolean {
    for (;;) {
      const open = this.#open.at(-1)
      if (open === undefined) {
        this.#space()
        if (this.#at < this.#text.length) throw this.#expected('the end')
        this.#result = value
        return true
      }
      if ('array' in open) {
        open.array.push(value)
        const c = this.#space()
        if (c !== Char.Comma && c !== Char.CloseBracket) throw this.#expected('"," or "]"')
        this.#at++
        if (c === Char.Comma) return false
        value = open.array
      } else {
        open.object.set(open.name, value)
        const c = this.#space()
        if (c !== Char.Comma && c !== Char.CloseBrace) throw this.#expected('"," or "}"')
        this.#at++
        if (c === Char.Comma) {
          open.name = this.#name()
          return false
        }
        value = open.object.finish()
      }
      noteLength(value, this.#at - open.start)
      if (this.#atQuestions(2)) this.#known!.note(this.#text, open.start, this.#at, value)
      this.#open.pop()
    }
  }

  /** Whether this many containers are open, and the outermost is at its member `questions`. */
  #atQuestions(depth: number): boolean {
    if (this.#known === undefined || this.#open.length !== depth) return false
    const [outermost] = this.#open
    return 'name' in outermost! && outermost.name === 'questions'
  }

  /** A name and the colon after it. */
  #name(): string {
    if (this.#space() !== Char.Quote) throw this.#expected('a quoted name')
    const name = this.#string()
    if (this.#space() !== Char.Colon) throw this.#expected('":"')
    this.#at++
    return name
  }

  /** Moves past an opening bracket. */
  #enter(): void {
    if (this.#open.length === maxDepth) throw invalid(`nesting deeper than ${maxDepth}`, this.#at)
    this.#at++
  }

  /** @param c - The code of its first character. */
  #scalar(c: number): Json {
    if (c === Char.Quote) return this.#string()
    if (c === Char.Minus || (c >= Char.Zero && c <= Char.Nine)) return this.#number()
    if (this.#word('true')) return true
    if (this.#word('false')) return false
    if (this.#word('null')) return null
    throw this.#expected('a value')
  }

  /** Skips white space; returns the code of the next character, NaN at the end. */
  #space(): number {
    const text = this.#text
    let at = this.#at
    let c = text.charCodeAt(at)
    while (c === Char.Space || c === Char.LineFeed || c === Char.Return || c === Char.Tab) {
      c = text.charCodeAt(++at)
    }
    this.#at = at
    return c
  }

  #word(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false
    this.#at += word.length
    return true
  }

  #string(): string {
    const text = this.#text
    const start = this.#at
    let at = start + 1
    let escaped = false
    for (;;) {
      at = plainEnd(text, at)
      const c = text.charCodeAt(at)
      if (c === Char.Quote) break
      if (c !== Char.Backslash) {
        // A control character, or NaN at the end of the text.
        this.#at = at
        throw this.#expected('the end of the string')
      }
      escaped = true
      at += 2
    }
    this.#at = at + 1
    return escaped ? this.#unescape(start) : text.slice(start + 1, at)
  }

  /** The string between `start` and the current position, quotes included. */
  #unescape(start: number): string {
    let value: string
    try {
      value = JSON.parse(this.#text.slice(start, this.#at)) as string
    } catch (cause) {
      const error = invalid('bad escape in the string', start)
      error.cause = cause
      throw error
    }
    if (!value.isWellFormed()) throw invalid('unpaired surrogate in the string', start)
    return value
  }

  #number(): number | RawNumber {
    const text = this.#text
    const start = this.#at
    // Most numbers are short integers, which JavaScript prints as they are written.
    let c = text.charCodeAt(start)
    if (c !== Char.Zero && c !== Char.Minus) {
      let whole = 0
      let at = start
      while (c >= Char.Zero && c <= Char.Nine) {
        whole = whole * 10 + c - Char.Zero
        c = text.charCodeAt(++at)
      }
      if (at - start <= exactDigits && c !== Char.Point && (c | 32) !== Char.LowerE) {
        this.#at = at
        return whole
      }
    }

    number.lastIndex = start
    // test() and not exec(), which would make an array for each number.
    if (!number.test(text)) {
      this.#at = start + 1
      throw this.#expected('a digit')
    }
    this.#at = number.lastIndex
    const literal = text.slice(start, this.#at)
    const value = Number(literal)
    return String(value) === literal ? value : new RawNumber(literal)
  }

  #expected(what: string): OiError {
    const found = this.#text.codePointAt(this.#at)
    const got = found === undefined ? 'the end' : shown(found)
    return invalid(`expected ${what}, got ${got}`, this.#at)
  }
}
