/**
 * The items of a JSON array of any length, one at a time.
 *
 * @module
 */

import { decodeUtf8 } from '../../api/json.js'
import { OiError } from '../../errors.js'
import { inPlace, longestLine } from './lines.js'

interface Item {
  /** From 1. */
  readonly number: number
  /** What stands between the commas, which need not be JSON. */
  readonly text: string
}

const code = (character: string) => character.charCodeAt(0)
const [quote, backslash, comma] = [code('"'), code('\\'), code(',')]
const [opening, closing] = [[code('['), code('{')] as const, [code(']'), code('}')] as const]
/** White space, and the bytes of a byte order mark. */
const ignored = new Set([9, 10, 13, 32, 0xef, 0xbb, 0xbf])

/**
 * Cuts the text of an array at the commas between its items. Memory: one item and one piece.
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` if the text is no array, does not end with it, or has an
 *   item longer than {@link longestLine}; what `pieces` throws.
 */
export async function* itemsOf(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Item, void, undefined> {
  let place = 'before' as 'before' | 'inside' | 'behind'
  let number = 1
  let [depth, quoted, escaped] = [0, false, false]
  let begun: Uint8Array[] = []
  let begunBytes = 0
  const fail = (rule: string) => inPlace('item', number, new OiError('ERR_BODY_INVALID', rule))
  const take = (part: Uint8Array) => {
    begunBytes += part.byteLength
    if (begunBytes > longestLine) throw fail(`expected at most ${longestLine} bytes`)
    begun.push(part)
  }
  const finish = () => {
    try {
      return decodeUtf8(Buffer.concat(begun))
    } catch (error) {
      throw inPlace('item', number, error)
    } finally {
      begun = []
      begunBytes = 0
    }
  }
  for await (const piece of pieces) {
    let start = 0
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at]!
      if (place !== 'inside') {
        if (ignored.has(byte)) continue
        if (place === 'behind') throw fail('expected nothing behind the array')
        if (byte !== opening[0]) throw fail('expected an array')
        place = 'inside'
        start = at + 1
      } else if (escaped) escaped = false
      else if (quoted) {
        if (byte === backslash) escaped = true
        else if (byte === quote) quoted = false
      } else if (byte === quote) quoted = true
      else if (byte === opening[0] || byte === opening[1]) depth++
      else if (depth > 0) {
        if (byte === closing[0] || byte === closing[1]) depth--
      } else if (byte === comma || byte === closing[0]) {
        take(piece.subarray(start, at))
        start = at + 1
        const text = finish()
        if (byte === closing[0]) place = 'behind'
        const isEmpty = place === 'behind' && number === 1 && text.trim() === ''
        if (!isEmpty) yield { number, text }
        number++
      }
    }
    if (place === 'inside') take(piece.subarray(start))
  }
  if (place !== 'behind') throw fail('the array does not end')
}
