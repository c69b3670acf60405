/**
 * A state with images: its text, cut at the images.
 *
 * Rules
 *   1. Apart from its images the text is as for a state without images: a string as it is, anything
 *      else as compact JSON. An image replaces its block; the key or the brackets around it stay,
 *      so that the model can tell images apart.
 *   2. Images beside the state come before it, each with a line break behind it.
 *   3. An image is recognised by the object that it replaces, never by text: no text of a caller
 *      can pass for an image.
 *
 * @module
 */

import type { Json, JsonObject } from '../api/json.js'
import { type JsonSink, writeInSteps } from '../api/json-writer.js'
import { atOnce, type Steps } from '../api/turns.js'
import type { RequestImages } from '../decide/types.js'
import type { ImagePixels, PromptPart } from '../engine/types.js'

/**
 * @param images - Decoded. They were found in the state, so it is no deeper than JSON may be.
 * @param behind - The text behind the state, in the same run of text.
 * @example
 * ```text
 * {"title":"My cat","photo": ▢ ,"year":2024}
 * ```
 */
export function stateParts(state: Json, images: RequestImages, behind: string): PromptPart[] {
  return atOnce(statePartsInSteps(state, images, behind))
}

/** As {@link stateParts}, in steps. */
export function* statePartsInSteps(
  state: Json,
  images: RequestImages,
  behind: string,
): Steps<PromptPart[]> {
  const parts = new Parts(images)
  for (const image of images.before) {
    parts.addImage(image)
    parts.addText('\n')
  }
  if (typeof state === 'string') parts.addText(state)
  else yield* writeInSteps(state, parts)
  parts.addText(behind)
  return parts.finish()
}

/** Puts texts around parts, each joined with the text that it touches. */
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

class Parts implements JsonSink {
  readonly instead: JsonSink['instead'] & object
  readonly #parts: PromptPart[] = []
  /** The text behind the last part: texts without an image between them are joined. */
  #text = ''

  constructor({ inState }: RequestImages) {
    this.instead = {
      has: (block: JsonObject) => inState.has(block),
      add: (block: JsonObject) => this.addImage(inState.get(block)!),
    }
  }

  addText(text: string): void {
    this.#text += text
  }

  addImage(image: ImagePixels): void {
    this.#endText()
    this.#parts.push({ text: '', trusted: false, image })
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
