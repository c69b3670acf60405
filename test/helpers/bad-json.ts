/**
 * Texts that are refused before any of their content is checked: 422.
 */
import type { Row } from './bad-requests.js'
import {
  arrays,
  asking,
  choice,
  good,
  noul,
  objects,
  one,
  score,
  withModel,
  withState,
} from './request-text.js'

const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))),
  )

type Bodies = Readonly<Record<string, string | Uint8Array>>

const notJson: Bodies = {
  nothing: '',
  'white space': ' \n\t',
  'a word': 'hello',
  undefined: 'undefined',
  NaN: withState('NaN'),
  Infinity: withState('-Infinity'),
  'a form': 'state=a&questions=b',
  XML: '<state/>',
  'an open object': good.slice(0, -1),
  'an open string': '{"state":"s',
  'a lone brace': '{',
  'a bracket that closes a brace': '{"state":"s"]',
  'a name without a value': '{"state"}',
  'a name without quotes': '{state:"s"}',
  'single quotes': "{'state':'s'}",
  'a comma before the end of an object': '{"state":"s",}',
  'a comma before the end of an array': withState('[1,]'),
  'two commas': withState('[1,,2]'),
  'a comment': `/* a */${good}`,
  'text behind the end': `${good}x`,
  'a brace behind the end': `${good}}`,
  'a second object': `${good}\n${good}`,
  'a NUL byte behind the end': `${good}\0`,
  'a NUL byte in a string': withState('"a\0b"'),
  'a line break in a string': withState('"a\nb"'),
  'a tab in a string': withState('"a\tb"'),
  'an unknown escape': withState('"\\x41"'),
  'a short escape': withState('"\\u12"'),
  'a number with a leading zero': withState('01'),
  'a number with a plus': withState('+1'),
  'a number that ends with its point': withState('1.'),
  'a number that begins with its point': withState('.5'),
  'a hexadecimal number': withState('0x10'),
  'a number without an exponent': withState('1e'),
  'a minus alone': withState('-'),
  True: withState('True'),
  'white space of another kind': `\u00a0${good}`,
  'UTF-16': Buffer.from(good, 'utf16le'),
}

const notUtf8: Bodies = {
  'a stray continuation byte': bytes('{"state":"', 0x80, '"}'),
  'a cut character': bytes('{"state":"', 0xe2, 0x82, '"}'),
  'an overlong character': bytes('{"state":"', 0xc0, 0xaf, '"}'),
  'a byte that UTF-8 never has': bytes('{"state":"', 0xff, '"}'),
  'a surrogate in UTF-8': bytes('{"state":"', 0xed, 0xa0, 0x80, '"}'),
  'Latin-1': Buffer.from(withState('"caf\u00e9"'), 'latin1'),
}

const unpaired: Bodies = {
  'a high surrogate in the state': withState('"\\ud83d"'),
  'a low surrogate in the state': withState('"\\ude00 a"'),
  'surrogates the wrong way round': withState('["\\ude00\\ud83d"]'),
  'a surrogate in a name of the state': withState('{"\\ud83d":1}'),
  'a surrogate in a question name': asking(`{"\\ud83d":${noul}}`),
  'a surrogate in the type': one('{"type":"noul\\ud83d"}'),
  'a surrogate in instructions': one('{"type":"noul","instructions":"\\udfff"}'),
  'a surrogate in an option name': choice('{"\\udbff":null,"b":null}'),
  'a surrogate in a description': choice('{"a":"\\ud800x","b":null}'),
  'a surrogate in a level': score('["a","\\ud800\\ud800"]'),
  'a surrogate in the meaning of yes': one('{"type":"noul","criteria":{"true":"\\udc00"}}'),
  'a surrogate in the model': withModel('"\\ud83d"'),
  'a surrogate in an unknown field': `{"x":"\\ud83d",${good.slice(1)}`,
}

const tooDeep: Bodies = {
  '64 arrays in a state': withState(arrays(64)),
  '64 objects in a state': withState(objects(64)),
  '65 arrays alone': arrays(65),
  '10,000 arrays in a state': withState(arrays(10_000)),
  '10,000 objects in a state': withState(objects(10_000)),
  '10,000 open arrays': '['.repeat(10_000),
  '1,000,000 open objects': '{"a":'.repeat(600_000),
  '62 arrays in instructions': one(`{"type":"noul","instructions":${arrays(62)}}`),
  '10,000 objects in instructions': one(`{"type":"noul","instructions":${objects(10_000)}}`),
  '61 arrays in a description': choice(`{"a":${arrays(61)},"b":1}`),
  '10,000 arrays in a description': choice(`{"a":${arrays(10_000)},"b":1}`),
  '61 objects in a level': score(`["a",${objects(61)}]`),
  '10,000 arrays in a level': score(`["a",${arrays(10_000)}]`),
  '10,000 arrays in an unknown field': `{"x":${arrays(10_000)},${good.slice(1)}`,
}

const rows = (bodies: Bodies, says: RegExp) =>
  Object.entries(bodies).map(([what, body]): Row => [what, body, 'body', says])

export const badJson: readonly Row[] = [
  ...rows(notJson, /^body: not valid JSON: .+ at position \d+$/),
  ...rows(
    { 'a byte order mark': `\uFEFF${good}` },
    /got a byte order mark \(U\+FEFF\) at position 0$/,
  ),
  ...rows({ 'a blank that JSON does not know': `\u00a0${good}` }, /got U\+00A0 at position 0$/),
  ...rows(notUtf8, /expected UTF-8/),
  ...rows(unpaired, /unpaired surrogate/),
  ...rows(tooDeep, /nesting deeper than 64 at position \d+$/),
]
