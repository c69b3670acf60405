/**
 * The order-preserving JSON reader and writer, with `JSON.parse` as the reference: both refuse the
 * same texts, and accepted texts have the same value.
 */
import t from 'tap'
import {
  decodeUtf8,
  duplicateKeyOf,
  entriesOf,
  isJsonObject,
  keysOf,
  objectFromEntries,
  parseJson,
  RawNumber,
  stringifyJson,
} from '../../src/api/json.js'
import type { Json } from '../../src/api/json.js'
import { stringifyInSteps } from '../../src/api/json-writer.js'
import { atOnce } from '../../src/api/turns.js'
import { createRandom } from '../helpers/random.js'

const invalid = { code: 'ERR_BODY_INVALID' }

t.test('integer-like names keep their place', async (t) => {
  const object = parseJson('{"b":1,"10":2,"9":3,"a":4,"01":5,"4294967295":6,"0":7}') as {}
  t.strictSame(keysOf(object), ['b', '10', '9', 'a', '01', '4294967295', '0'])
  const values = entriesOf(object as Record<string, Json>).map(([, value]) => value)
  t.strictSame(values, [1, 2, 3, 4, 5, 6, 7])
  t.equal(stringifyJson(object), '{"b":1,"10":2,"9":3,"a":4,"01":5,"4294967295":6,"0":7}')
})

t.test('a parsed object is an ordinary object', async (t) => {
  const object = parseJson('{"b":1,"1":2}')
  t.strictSame(object, { b: 1, 1: 2 })
  t.equal(JSON.stringify(object), '{"1":2,"b":1}')
  t.strictSame(Object.getOwnPropertySymbols({ ...(object as {}) }), [])
})

t.test('__proto__ is a name like any other', async (t) => {
  const object = parseJson('{"__proto__":{"x":1},"constructor":2,"":3}') as Record<string, Json>
  t.equal(Object.getPrototypeOf(object), Object.prototype)
  t.strictSame(keysOf(object), ['__proto__', 'constructor', ''])
  t.strictSame(Object.getOwnPropertyDescriptor(object, '__proto__')?.value, { x: 1 })
  t.equal(stringifyJson(object), '{"__proto__":{"x":1},"constructor":2,"":3}')
})

t.test('the last value of a repeated name counts, and the name is reported', async (t) => {
  const object = parseJson('{"a":1,"7":0,"b":2,"a":3,"b":4,"7":5}') as Record<string, Json>
  t.strictSame(entriesOf(object), [
    ['a', 3],
    ['7', 5],
    ['b', 4],
  ])
  t.equal(duplicateKeyOf(object), 'a')
  t.equal(duplicateKeyOf(parseJson('{"a":{"b":1},"b":{"a":1}}') as {}), undefined)
  t.equal(duplicateKeyOf(parseJson('{"__proto__":1,"__proto__":2}') as {}), '__proto__')
  t.equal(duplicateKeyOf(parseJson('{"\\u0061":1,"a":2}') as {}), 'a')
})

t.test('an object with many names behaves like one with few', async (t) => {
  const names = Array.from({ length: 3000 }, (_, i) => `n${i}`)
  const members = names.map((name, i) => `"${name}":${i}`)
  const object = parseJson(`{${members.join()},"7":0,"n0":1,"n2999":2}`) as Record<string, Json>
  t.strictSame(keysOf(object), [...names, '7'])
  t.equal(duplicateKeyOf(object), 'n0')
  t.match(object, { n0: 1, n1: 1, n2999: 2, 7: 0 })
})

t.test('objectFromEntries keeps the order of its entries', async (t) => {
  const entries: [string, number][] = [
    ['z', 1],
    ['2', 2],
    ['__proto__', 3],
    ['1', 4],
  ]
  const object = objectFromEntries(entries)
  t.strictSame(entriesOf(object), entries)
  t.equal(Object.getPrototypeOf(object), Object.prototype)
})

t.test('a number keeps its literal', async (t) => {
  for (const literal of ['12345678901234567890', '1.0', '1e400', '-0', '1E5', '0.10', '1e-400']) {
    const value = parseJson(literal)
    t.ok(value instanceof RawNumber, literal)
    t.equal(Number(value), JSON.parse(literal), literal)
    t.strictSame(Object.keys(value as object), [], literal)
    t.equal(stringifyJson([value]), `[${literal}]`, literal)
    t.notOk(isJsonObject(value), literal)
  }
  for (const literal of ['0', '-1', '1.5', '9007199254740991', '1e+21', '5e-324']) {
    t.equal(parseJson(literal), JSON.parse(literal), literal)
  }
})

t.test('stringifyJson writes what JSON.stringify would', async (t) => {
  for (const value of [null, true, 1.5, 'a"\\\n\u2028é😀', [], {}, [[1], { a: [null] }]]) {
    t.equal(stringifyJson(value), JSON.stringify(value))
  }
  t.equal(stringifyJson({ a: undefined, b: 1 }), '{"b":1}')
})

t.test('a value that contains itself is refused', async (t) => {
  const loop: Json[] = []
  loop.push(loop)
  t.throws(() => stringifyJson(loop), invalid)
})

t.test('nesting ends at 64', async (t) => {
  const nested = (depth: number, open: string, close: string) =>
    `${open.repeat(depth)}1${close.repeat(depth)}`
  t.ok(parseJson(nested(64, '[', ']')))
  t.ok(parseJson(nested(64, '{"a":', '}')))
  t.throws(() => parseJson(nested(65, '[', ']')), invalid)
  t.throws(() => parseJson(nested(65, '{"a":', '}')), invalid)
  t.throws(() => parseJson('['.repeat(1_000_000)), invalid)
  t.ok(parseJson(`[${Array<string>(100).fill('[[]]').join()}]`), 'width is not depth')
})

t.test('unpaired surrogates are refused, pairs are not', async (t) => {
  for (const text of [
    '"\ud800"',
    '"\udc00"',
    '"\udc00\ud800"',
    '"\\ud800"',
    '"\\udc00"',
    '"\\ud83dx"',
    '"\\ud83d\\u0041"',
    '{"\\ud800":1}',
    '"\ud83d\\ude00"',
  ]) {
    t.throws(() => parseJson(text), invalid, JSON.stringify(text))
  }
  t.equal(parseJson('"😀"'), '😀')
  t.equal(parseJson('"\\ud83d\\ude00"'), '😀')
})

t.test('text that is not JSON is refused with the position', async (t) => {
  for (const [text, position] of [
    ['', 0],
    ['  ', 2],
    ['{', 1],
    ['[1,]', 3],
    ['{"a":1,}', 7],
    ['{a:1}', 1],
    ['{"a" 1}', 5],
    ['[1 2]', 3],
    ['01', 1],
    ['-', 1],
    ['1.', 1],
    ['.5', 0],
    ['1e', 1],
    ['+1', 0],
    ['NaN', 0],
    ['tru', 0],
    ['true1', 4],
    ['nullnull', 4],
    ['"a', 2],
    ['"a\nb"', 2],
    ['"\u0000"', 1],
    ['"\\x"', 0],
    ['"\\u12"', 0],
    ["'a'", 0],
    ['1 // one', 2],
    ['\ufeff1', 0],
    ['\u00a01', 0],
    ['{"a":1}}', 7],
  ] as const) {
    t.throws(
      () => parseJson(text),
      { ...invalid, message: new RegExp(`at position ${position}$`) },
      JSON.stringify(text),
    )
    t.throws(() => JSON.parse(text), JSON.stringify(text))
  }
})

t.test('bytes that are not UTF-8 are refused', async (t) => {
  for (const bytes of [
    [0xff],
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0xf5, 0x80, 0x80, 0x80],
    [0x22, 0xe2, 0x82, 0x22],
  ]) {
    t.throws(() => decodeUtf8(Uint8Array.from(bytes)), invalid, bytes.join())
  }
  t.equal(decodeUtf8(new TextEncoder().encode('"é😀"')), '"é😀"')
  const whole = new TextEncoder().encode('abcdef')
  t.equal(decodeUtf8(whole.subarray(2, 4)), 'cd')
})

t.test('a byte order mark is refused, as JSON.parse refuses it', async (t) => {
  t.throws(() => parseJson(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31))), invalid)
})

// Valid texts and their mutations: both readers agree on every one of them.
t.test('random texts are read as JSON.parse reads them', async (t) => {
  const random = createRandom(20)
  let accepted = 0
  for (let i = 0; i < 6000; i++) {
    let text = randomJson(random, 0)
    if (i % 2 === 1) text = mutate(random, text)
    const expected = attempt(() => JSON.parse(text) as unknown)
    const actual = attempt(() => parseJson(text))
    if (expected.failed || actual.failed) {
      if (expected.failed !== actual.failed) t.fail(text)
      continue
    }
    accepted++
    if (stable(actual.value) !== stable(expected.value)) t.fail(text)
    const again = stringifyJson(actual.value as Json)
    if (stringifyJson(parseJson(again)) !== again) t.fail(text)
    if (atOnce(stringifyInSteps(actual.value as Json)) !== again) t.fail(text)
  }
  t.ok(accepted > 3000)
})

function attempt<V>(read: () => V): { failed: boolean; value?: V } {
  try {
    return { failed: false, value: read() }
  } catch {
    return { failed: true }
  }
}

/** Values with literals turned into doubles, in one order of keys. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isJsonObject(member) ? { ...member } : member,
  )
}

type Random = ReturnType<typeof createRandom>

function randomJson(random: Random, depth: number): string {
  const space = () => random.pick(['', '', '', ' ', '\n\t', '\r'])
  const list = (one: () => string) =>
    Array.from({ length: random.integer(4) }, one).join(`${space()},${space()}`)
  const kind = random.integer(depth > 3 ? 5 : 7)
  if (kind === 5) return `[${space()}${list(() => randomJson(random, depth + 1))}${space()}]`
  if (kind === 6) {
    const member = () => `${randomString(random)}${space()}:${randomJson(random, depth + 1)}`
    return `{${space()}${list(member)}${space()}}`
  }
  if (kind < 2) return randomString(random)
  if (kind < 4) return randomNumber(random)
  return random.pick(['true', 'false', 'null'])
}

function randomString(random: Random): string {
  const pieces = ['a', 'Z', '0', '7', ' ', 'é', '日', '😀', '\\n', '\\"', '\\\\', '\\u00e9', '/']
  const out = Array.from({ length: random.integer(6) }, () => random.pick(pieces)).join('')
  return `"${out}"`
}

function randomNumber(random: Random): string {
  const digits = String(random.integer(1_000_000))
  return (
    random.pick(['', '-']) +
    digits +
    random.pick(['', '', `.${random.integer(1000)}`]) +
    random.pick(['', '', `e${random.integer(30)}`, `E-${random.integer(30)}`])
  )
}

function mutate(random: Random, text: string): string {
  // By code points: half a pair is refused here and not by JSON.parse.
  const points = [...text]
  const other = random.pick(['"', '\\', '{', '}', '[', ']', ',', ':', '0', '-', '.', 'e', '\n', ''])
  points.splice(random.integer(points.length + 1), random.integer(2), other)
  return points.join('')
}
