/**
 * A state with images: its text, cut where they stand.
 *
 * Rules
 *   1. Without its images the text is what a state without images has: a string as it is,
 *      anything else as compact JSON. A picture takes the place of its block, and the key or the
 *      brackets around it stay, so that the model can tell one picture from another.
 *   2. Images beside the state come before it, each followed by a line break.
 *   3. What is a picture is known by the object that it replaces, never by its text: no text
 *      that a caller sends can pass for one.
 *
 * @module
 */

import { isJsonObject, keysOf, stringifyJson } from '../api/json.js'
import type { Json } from '../api/json.js'
import type { RequestImages } from '../decide/types.js'
import type { ImagePixels, PromptPart } from '../engine/types.js'

/**
 * @param images - Decoded; the state is no deeper than JSON may be, as they were found in it.
 * @param behind - What follows the state, in the same run of text.
 * @example
 * ```text
 * {"title":"My cat","photo": ▢ ,"year":2024}
 * ```
 */
export function stateParts(state: Json, images: RequestImages, behind: string): PromptPart[] {
  const parts = new Parts(images)
  for (const image of images.before) {
    parts.addImage(image)
    parts.addText('\n')
  }
  if (typeof state === 'string') parts.addText(state)
  else parts.addJson(state)
  parts.addText(behind)
  return parts.finish()
}

/** Puts texts around parts, each in one run with the text that it touches. */
export function wrapText(
  before: string,
  parts: readonly PromptPart[],
  behind: string,
): PromptPart[] {
  const wrapped = [...parts]
  const isText = (part: PromptPart | undefined) => part !== undefined && part.image === undefined
  if (before !== '') {
    const first = isText(wrapped[0]) ? wrapped.shift()!.text : ''
    wrapped.unshift({ text: before + first, trusted: false })
  }
  if (behind !== '') {
    const last = isText(wrapped.at(-1)) ? wrapped.pop()!.text : ''
    wrapped.push({ text: last + behind, trusted: false })
  }
  return wrapped
}

class Parts {
  readonly #images: RequestImages['inState']
  readonly #parts: PromptPart[] = []
  /** Behind the last part: texts without a picture between them are one. */
  #text = ''

  constructor({ inState }: RequestImages) {
    this.#images = inState
  }

  addText(text: string): void {
    this.#text += text
  }

  addImage(image: ImagePixels): void {
    this.#endText()
    this.#parts.push({ text: '', trusted: false, image })
  }

  /** As `stringifyJson` writes it. */
  addJson(value: Json): void {
    if (Array.isArray(value)) {
      this.#text += '['
      value.forEach((item, i) => {
        if (i > 0) this.#text += ','
        this.addJson(item)
      })
      this.#text += ']'
      return
    }
    if (!isJsonObject(value)) {
      this.#text += stringifyJson(value)
      return
    }
    const image = this.#images.get(value)
    if (image !== undefined) {
      this.addImage(image)
      return
    }
    const names = keysOf(value).filter((name) => value[name] !== undefined)
    this.#text += '{'
    names.forEach((name, i) => {
      this.#text += `${i > 0 ? ',' : ''}${JSON.stringify(name)}:`
      this.addJson(value[name]!)
    })
    this.#text += '}'
  }

  finish(): PromptPart[] {
    this.#endText()
    return this.#parts
  }

  #endText(): void {
    if (this.#text !== '') this.#parts.push({ text: this.#text, trusted: false })
    this.#text = ''
  }
}
