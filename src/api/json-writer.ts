/**
 * Writes JSON values in steps, for values so large that writing them at once would block the event
 * loop.
 *
 * Open containers are kept in a list and not on the stack, as in the reader. Pieces are joined once
 * per step: a text that grows by each value is a tree with as many nodes, which takes longer to
 * collect than to write.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { isJsonObject, keysOf, maxDepth, stringifyJson } from './json-value.js'
import type { Json, JsonObject } from './json-value.js'
import type { Steps } from './turns.js'

/** The form of the JSON: without spaces by default. */
export interface JsonForm {
  /** A space after each `,` and `:`. */
  readonly spaced?: boolean
  /** A line for each member, two spaces for each level, and a space after `:`. */
  readonly indented?: boolean
  /** Names in the order of their UTF-16 units instead of the caller's. */
  readonly sortedKeys?: boolean
}

/** Receives the written text. */
export interface JsonSink {
  addText(text: string): void
  /** Whether another writer replaces an object's text, and the call that does it. */
  readonly instead?: { has(object: JsonObject): boolean; add(object: JsonObject): void }
}

/** A container that is not written completely. */
interface Open {
  readonly value: Json[] | JsonObject
  /** The names of an object's members. */
  readonly names: readonly string[] | undefined
  next: number
}

/** This many take a fraction of a millisecond. */
const valuesPerStep = 1000

/**
 * Writes a value as `stringifyJson` does, in the given form.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` as `stringifyJson`.
 */
export function* writeInSteps(value: Json, sink: JsonSink, form: JsonForm = {}): Steps<void> {
  const writer = new Writer(sink, form)
  writer.begin(value)
  while (!writer.write(valuesPerStep)) yield
}

/** As {@link writeInSteps}, to one text. */
export function* stringifyInSteps(value: Json, form?: JsonForm): Steps<string> {
  const texts: string[] = []
  yield* writeInSteps(value, { addText: (text) => texts.push(text) }, form)
  return texts.join('')
}

class Writer {
  readonly #sink: JsonSink
  readonly #form: JsonForm
  readonly #colon: string
  readonly #space: string
  readonly #open: Open[] = []
  #pieces: string[] = []

  constructor(sink: JsonSink, form: JsonForm) {
    this.#sink = sink
    this.#form = form
    this.#colon = form.spaced || form.indented ? ': ' : ':'
    this.#space = form.spaced && !form.indented ? ' ' : ''
  }

  begin(value: Json): void {
    this.#put(value)
  }

  /** @returns True at the end. */
  write(count: number): boolean {
    for (let i = 0; i < count && this.#open.length > 0; i++) this.#writeNext()
    this.#flush()
    return this.#open.length === 0
  }

  #writeNext(): void {
    const open = this.#open.at(-1)!
    const { value, names, next } = open
    if (next === (names ?? (value as Json[])).length) {
      this.#open.pop()
      if (next > 0) this.#break(this.#open.length)
      this.#pieces.push(names === undefined ? ']' : '}')
      return
    }
    open.next++
    if (next > 0) this.#pieces.push(',', this.#space)
    this.#break(this.#open.length)
    if (names === undefined) {
      this.#put((value as Json[])[next]!)
      return
    }
    const name = names[next]!
    this.#pieces.push(JSON.stringify(name), this.#colon)
    this.#put((value as JsonObject)[name]!)
  }

  #put(value: Json): void {
    const isArray = Array.isArray(value)
    if (!isArray && !isJsonObject(value)) {
      this.#pieces.push(stringifyJson(value))
      return
    }
    if (!isArray && this.#sink.instead?.has(value)) {
      this.#flush()
      this.#sink.instead.add(value)
      return
    }
    if (this.#open.length === maxDepth) {
      throw new OiError('ERR_BODY_INVALID', `expected at most ${maxDepth} levels of nesting`)
    }
    this.#pieces.push(isArray ? '[' : '{')
    this.#open.push({ value, names: isArray ? undefined : this.#namesOf(value), next: 0 })
  }

  #namesOf(object: JsonObject): readonly string[] {
    const names = keysOf(object).filter((name) => object[name] !== undefined)
    return this.#form.sortedKeys ? names.sort() : names
  }

  #break(level: number): void {
    if (this.#form.indented) this.#pieces.push('\n', '  '.repeat(level))
  }

  #flush(): void {
    if (this.#pieces.length === 0) return
    this.#sink.addText(this.#pieces.join(''))
    this.#pieces = []
  }
}
