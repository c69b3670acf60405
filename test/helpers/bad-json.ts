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

/** More texts that are no JSON, each with its position: unit/json.test.ts. */
const notJson: Bodies = {
  'a word': 'hello',
  undefined: 'undefined',
  Infinity: withState('-Infinity'),
  'a form': 'state=a&questions=b',
  XML: '<state/>',
  'a bracket that closes a brace': '{"state":"s"]',
  'two commas': withState('[1,,2]'),
  'text behind the end': `${good}x`,
  'a second object': `${good}\n${good}`,
  'a NUL byte behind the end': `${good}\0`,
  'a tab in a string': withState('"a\tb"'),
  'a hexadecimal number': withState('0x10'),
  True: withState('True'),
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
