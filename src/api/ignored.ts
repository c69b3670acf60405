/**
 * Members of a request that nobody reads: they are told, so that a misspelling shows.
 *
 * The state is the caller's own and every member of it is read; of an object that is part of the
 * interface, those that the interface does not name are not.
 *
 * @module
 */

import { keysOf } from './json-value.js'
import { placeOf } from './place.js'

/** Places that are told, the first ones; and for how many bytes of a header, which proxies bound. */
const [mostPlaces, mostBytes] = [8, 1024]

/**
 * Notes the members of an object that are not known.
 *
 * @param place - Of the object; `''` is the body itself.
 * @param ignored - Takes their places, up to eight in all.
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

/** Adds places that were noted elsewhere. @param within - Where they are: `requests[3].`. */
export function addIgnored(ignored: string[], places: readonly string[], within = ''): void {
  for (const place of places) {
    if (ignored.length === mostPlaces) return
    ignored.push(within + place)
  }
}

/** The places as the value of a header: in ASCII, with JSON's escapes for the rest. */
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
