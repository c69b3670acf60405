/**
 * The order-preserving JSON reader and writer by example; json-properties.test.ts has what holds for
 * any text.
 */
import t from 'tap'
import {
  duplicateKeyOf,
  entriesOf,
  isJsonObject,
  keysOf,
  parseJson,
  RawNumber,
  stringifyJson,
} from '../../src/api/json.js'
import type { Json } from '../../src/api/json.js'

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

t.test('an object with many names behaves like one with few', async (t) => {
  const names = Array.from({ length: 3000 }, (_, i) => `n${i}`)
  const members = names.map((name, i) => `"${name}":${i}`)
  const object = parseJson(`{${members.join()},"7":0,"n0":1,"n2999":2}`) as Record<string, Json>
  t.strictSame(keysOf(object), [...names, '7'])
  t.equal(duplicateKeyOf(object), 'n0')
  t.match(object, { n0: 1, n1: 1, n2999: 2, 7: 0 })
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
