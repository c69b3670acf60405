/**
 * Properties of the JSON reader and writer, for any text, with `JSON.parse` as the reference. For
 * intended differences (unpaired surrogates, depth, order and repetition of names, the text of
 * numbers) a property states the difference.
 */
import t from 'tap'
import { isDeepStrictEqual } from 'node:util'
import fc, { type IProperty } from 'fast-check'
import {
  decodeUtf8,
  duplicateKeyOf,
  entriesOf,
  isJsonObject,
  keysOf,
  maxDepth,
  objectFromEntries,
  parseJson,
  RawNumber,
  stringifyJson,
} from '../../src/api/json.js'
import type { Json } from '../../src/api/json.js'
import { stringifyInSteps } from '../../src/api/json-writer.js'
import { atOnce } from '../../src/api/turns.js'
import { OiError } from '../../src/errors.js'

const runs = { numRuns: 1000 }

// Texts, in every formatting that JSON allows.

const space = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\r'), maxLength: 3 })
const codePoint = fc.string({ unit: 'binary', minLength: 1, maxLength: 1 })
const asEscapes = (text: string, upper: boolean) =>
  Array.from({ length: text.length }, (_, i) => {
    const hex = text.charCodeAt(i).toString(16).padStart(4, '0')
    return `\\u${upper ? hex.toUpperCase() : hex}`
  }).join('')
/** One character of a string: itself, a short escape or its code. */
const character = fc.oneof(
  codePoint.map((point) => JSON.stringify(point).slice(1, -1)),
  fc.constantFrom('\\b', '\\f', '\\n', '\\r', '\\t', '\\/', '\\\\', '\\"'),
  fc.tuple(codePoint, fc.boolean()).map(([point, upper]) => asEscapes(point, upper)),
)
const quoted = (characters: readonly string[]) => `"${characters.join('')}"`
// Longer than the run after which the reader searches in another way.
const stringText = fc.oneof(
  fc.array(character, { maxLength: 8 }).map(quoted),
  fc.array(character, { minLength: 30, maxLength: 80, size: 'max' }).map(quoted),
)
const numberText = fc.stringMatching(
  /^-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?$/,
)
/** Names that JavaScript sorts, inherits or repeats. */
const nameText = fc.oneof(
  stringText,
  fc.nat({ max: 20 }).map((index) => `"${index}"`),
  fc.constantFrom('""', '"__proto__"', '"constructor"', '"a"', '"\\u0061"', '"4294967295"'),
)
const spaced = fc.tuple(space, space)
const around = ([before, behind]: readonly [string, string], text: string) => before + text + behind

const { text: jsonText } = fc.letrec<{ text: string; list: string; object: string }>((tie) => ({
  text: fc
    .tuple(
      spaced,
      fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        fc.constantFrom('null', 'true', 'false'),
        numberText,
        stringText,
        tie('list'),
        tie('object'),
      ),
    )
    .map(([spaces, text]) => around(spaces, text)),
  list: fc.array(tie('text'), { maxLength: 5 }).map((items) => `[${items.join()}]`),
  object: fc
    .array(fc.tuple(spaced, nameText, tie('text')), { maxLength: 5 })
    .map((members) =>
      members.map(([spaces, name, text]) => `${around(spaces, name)}:${text}`).join(),
    )
    .map((members) => `{${members}}`),
}))

/** A text with one changed place: most are not JSON any more, some still are. */
const damagedText = fc
  .tuple(jsonText, fc.nat(), fc.nat({ max: 2 }), fc.constantFrom(...'"\\{}[],:0-.e\n \u0000', ''))
  .map(([text, at, deleted, inserted]) => {
    // By code points: half a pair is refused here and not by JSON.parse.
    const points = [...text]
    points.splice(at % (points.length + 1), deleted, inserted)
    return points.join('')
  })
const nearlyJson = fc.string({
  unit: fc.constantFrom(...'{}[],:"\\/0123456789-+.eEtrufalsn \n\té'),
})

// The results of both readers.

function attempt<V>(read: () => V): { value: V } | { error: unknown } {
  try {
    return { value: read() }
  } catch (error) {
    return { error }
  }
}

const isRefused = (text: string) => {
  const outcome = attempt(() => parseJson(text))
  if ('value' in outcome) return false
  return outcome.error instanceof OiError && outcome.error.code === 'ERR_BODY_INVALID'
}

/** The same value as JavaScript sees it: literals as doubles, names in any order. */
function same(actual: Json, expected: unknown): boolean {
  if (typeof actual === 'number' || actual instanceof RawNumber) {
    return Object.is(Number(actual), expected)
  }
  if (Array.isArray(actual)) {
    return (
      Array.isArray(expected) &&
      actual.length === expected.length &&
      actual.every((item, i) => same(item, expected[i]))
    )
  }
  if (!isJsonObject(actual)) return actual === expected
  if (typeof expected !== 'object' || expected === null || Array.isArray(expected)) return false
  const names = Object.keys(actual)
  return (
    Object.getPrototypeOf(actual) === Object.prototype &&
    names.length === Object.keys(expected).length &&
    keysOf(actual).length === names.length &&
    names.every(
      (name) =>
        Object.hasOwn(expected, name) &&
        same(actual[name]!, (expected as Record<string, unknown>)[name]),
    )
  )
}

/** Why a text that JSON.parse accepts is refused here. It is JSON, so strings are easy to find. */
function isBeyondLimits(text: string): boolean {
  const strings = /"(?:[^"\\]|\\[^])*"/g
  if ((text.match(strings) ?? []).some((one) => /\p{Surrogate}/u.test(JSON.parse(one) as string)))
    return true
  let depth = 0
  for (const c of text.replaceAll(strings, '')) {
    if (c === '[' || c === '{') depth++
    if (c === ']' || c === '}') depth--
    if (depth > maxDepth) return true
  }
  return false
}

const property = <Ts>(name: string, check: IProperty<Ts>) =>
  t.test(name, async () => fc.assert(check, runs))

property(
  'any JSON text has the value that JSON.parse gives it',
  fc.property(jsonText, (text) => same(parseJson(text), JSON.parse(text))),
)

for (const [what, texts] of [
  ['damaged', damagedText],
  ['nearly JSON', nearlyJson],
  ['any string', fc.string({ unit: 'binary' })],
  ['any UTF-16', fc.array(fc.nat({ max: 0xffff })).map((codes) => String.fromCharCode(...codes))],
  [
    'a string of any UTF-16',
    fc.array(fc.nat({ max: 0xffff })).map((codes) => JSON.stringify(String.fromCharCode(...codes))),
  ],
] as const) {
  property(
    `a text is accepted if JSON.parse accepts it within our limits, and else refused: ${what}`,
    fc.property(texts, (text) => {
      const reference = attempt(() => JSON.parse(text) as unknown)
      if (!('value' in reference)) return isRefused(text)
      if (isBeyondLimits(text)) return isRefused(text)
      return same(parseJson(text), reference.value)
    }),
  )
}

property(
  'names keep the order in which they first stand, and the first that stands again is known',
  fc.property(fc.array(fc.tuple(nameText, spaced)), (members) => {
    const text = `{${members.map(([name, spaces]) => `${around(spaces, name)}:0`).join()}}`
    const names = members.map(([name]) => JSON.parse(name) as string)
    const object = parseJson(text) as object
    const repeated = names.find((name, i) => names.indexOf(name) < i)
    return (
      isDeepStrictEqual(keysOf(object), [...new Set(names)]) && duplicateKeyOf(object) === repeated
    )
  }),
)

/** Compact texts without repeated names. */
const { compact } = fc.letrec<{ compact: string }>((tie) => ({
  compact: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('null', 'true', 'false'),
    numberText,
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
    fc.array(tie('compact'), { maxLength: 5 }).map((items) => `[${items.join()}]`),
    fc
      .uniqueArray(fc.tuple(nameText, tie('compact')), {
        maxLength: 5,
        selector: ([name]) => JSON.parse(name) as string,
      })
      .map((members) =>
        members.map(([name, text]) => `${JSON.stringify(JSON.parse(name))}:${text}`).join(),
      )
      .map((members) => `{${members}}`),
  ),
}))

property(
  'a compact text is written as it was read: order, literals and all',
  fc.property(compact, (text) => stringifyJson(parseJson(text)) === text),
)

property(
  'what is written is read as the same value, and written alike again, at once and in steps',
  fc.property(jsonText, (text) => {
    const value = parseJson(text)
    const written = stringifyJson(value)
    const alike = stringifyJson(parseJson(written)) === written
    const inSteps = atOnce(stringifyInSteps(value)) === written
    return same(value, JSON.parse(written)) && alike && inSteps
  }),
)

property(
  'entries make an object of the same entries',
  fc.property(
    fc.uniqueArray(
      fc.tuple(
        nameText.map((name) => JSON.parse(name) as string),
        fc.nat(),
      ),
      { selector: ([name]) => name },
    ),
    (entries) => {
      const object = objectFromEntries(entries)
      const isOrdinary = Object.getPrototypeOf(object) === Object.prototype
      return isOrdinary && isDeepStrictEqual(entriesOf(object), entries)
    },
  ),
)

property(
  'nesting is accepted up to its limit, whatever is nested',
  fc.property(fc.array(fc.boolean(), { maxLength: 3 * maxDepth, size: 'max' }), (lists) => {
    const open = lists.map((list) => (list ? '[' : '{"a":')).join('')
    const shut = lists
      .map((list) => (list ? ']' : '}'))
      .reverse()
      .join('')
    const text = `${open}0${shut}`
    return lists.length > maxDepth ? isRefused(text) : same(parseJson(text), JSON.parse(text))
  }),
)

property(
  'half a pair of surrogates is refused wherever it stands',
  fc.property(
    fc.array(character),
    fc.integer({ min: 0xd800, max: 0xdfff }),
    fc.boolean(),
    fc.array(character),
    (before, code, escaped, behind) => {
      // Letters around it keep it from finding its other half.
      const half = escaped ? `\\u${code.toString(16)}` : String.fromCharCode(code)
      const text = `"${before.join('')}x${half}x${behind.join('')}"`
      return isRefused(text) && isRefused(`{${text}:0}`) && isRefused(`[[${text}]]`)
    },
  ),
)

property(
  'bytes are text exactly where they are UTF-8',
  fc.property(
    fc.oneof(
      fc.uint8Array(),
      fc.string({ unit: 'binary' }).map((s) => new TextEncoder().encode(s)),
    ),
    (bytes) => {
      const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
      const reference = attempt(() => strict.decode(bytes))
      const within = Uint8Array.of(0, ...bytes, 0).subarray(1, -1)
      const actual = attempt(() => decodeUtf8(within))
      if ('value' in reference) return 'value' in actual && actual.value === reference.value
      return 'error' in actual && actual.error instanceof OiError
    },
  ),
)
