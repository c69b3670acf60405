/**
 * Unknown members of a request: they are reported, so that a misspelling shows.
 *
 * Every member of the state is read, as the state is the caller's own; in the interface's own
 * objects, members that it does not name are ignored.
 *
 * @module
 */

import { keysOf } from './json-value.js'
import { placeOf } from './place.js'

/** The number of places that are reported, and bytes of their header, which proxies bound. */
const [mostPlaces, mostBytes] = [8, 1024]

/**
 * Notes the unknown members of an object.
 *
 * @param place - Of the object; `''` is the body itself.
 * @param ignored - Collects their places, up to eight in all.
 */
export function noteIgnored(
  object: object,
  known: readonly string[],
  place: string,
  ignored: string[],
): void {
  for (const name of keysOf(object)) {
    if (known.includes(name)) continue
    if (ignored.length === mostPlaces) return
    ignored.push(placeOf(place, name))
  }
}

/** Adds places that were noted elsewhere. @param within - Their prefix: `requests[3].`. */
export function addIgnored(ignored: string[], places: readonly string[], within = ''): void {
  for (const place of places) {
    if (ignored.length === mostPlaces) return
    ignored.push(within + place)
  }
}

/** The places as a header's value: in ASCII, with JSON's escapes for other characters. */
export function ignoredText(ignored: readonly string[]): string {
  let text = ''
  for (const place of ignored) {
    const escaped = place.replaceAll(/[^\x20-\x7e]/g, (unit) => {
      return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
    })
    if (text.length + escaped.length + 2 > mostBytes) return text
    text += text === '' ? escaped : `, ${escaped}`
  }
  return text
}
