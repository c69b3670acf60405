/**
 * Requests that must be refused before the model is reached, and how.
 */

export interface BadRequest {
  /** What is wrong with it. */
  readonly what: string
  readonly body: string | Uint8Array
  readonly status: number
  /** Where the message begins; `body` for the whole of it. */
  readonly place: string
  /** What the message says. */
  readonly says: RegExp
  readonly headers?: Readonly<Record<string, string>>
  readonly chunked?: true
  /** It is found out by counting tokens, which is the engine's work. */
  readonly counted?: true
}

type Row = readonly [what: string, body: string | Uint8Array, place: string, says: RegExp]
type More = Partial<Pick<BadRequest, 'headers' | 'chunked' | 'counted'>>

const rows = (status: number, table: readonly Row[], more: More = {}): BadRequest[] =>
  table.map(([what, body, place, says]) => ({ what, body, place, says, status, ...more }))

/** A body with these questions. */
const asking = (questions: string, rest = '"state":"s"') => `{${rest},"questions":${questions}}`
/** A body with this one question, named q. */
const one = (question: string) => asking(`{"q":${question}}`)
const noul = '{"type":"noul","instructions":"Is it?"}'
const choice = (criteria: string) => one(`{"type":"choice","criteria":${criteria}}`)
const score = (criteria: string) => one(`{"type":"score","criteria":${criteria}}`)
const withState = (state: string) => asking(`{"q":${noul}}`, `"state":${state}`)
export const good = withState('"It rains."')

const names = (count: number, value: string) =>
  `{${Array.from({ length: count }, (_, i) => `"n${i}":${value}`).join()}}`
const levels = (count: number) => `[${Array.from({ length: count }, () => '"l"').join()}]`
const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))))
const huge = `{"state":"${'x'.repeat(5 << 20)}","questions":{"q":${noul}}}`

const notJson = /^body: not valid JSON: .+ at position \d+$/
const tooDeep = /nesting deeper than 64 at position \d+$/
const surrogate = /unpaired surrogate/
const notUtf8 = /expected UTF-8/
const json: readonly Row[] = [
  ['nothing', '', 'body', notJson],
  ['white space', ' \n\t', 'body', notJson],
  ['a word', 'hello', 'body', notJson],
  ['undefined', 'undefined', 'body', notJson],
  ['NaN', withState('NaN'), 'body', notJson],
  ['Infinity', withState('-Infinity'), 'body', notJson],
  ['a form', 'state=a&questions=b', 'body', notJson],
  ['XML', '<state/>', 'body', notJson],
  ['an open object', good.slice(0, -1), 'body', notJson],
  ['an open string', '{"state":"s', 'body', notJson],
  ['a lone brace', '{', 'body', notJson],
  ['a bracket that closes a brace', '{"state":"s"]', 'body', notJson],
  ['a name without a value', '{"state"}', 'body', notJson],
  ['a name without quotes', '{state:"s"}', 'body', notJson],
  ['single quotes', "{'state':'s'}", 'body', notJson],
  ['a comma before the end of an object', '{"state":"s",}', 'body', notJson],
  ['a comma before the end of an array', withState('[1,]'), 'body', notJson],
  ['two commas', withState('[1,,2]'), 'body', notJson],
  ['a comment', `/* a */${good}`, 'body', notJson],
  ['text behind the end', `${good}x`, 'body', notJson],
  ['a brace behind the end', `${good}}`, 'body', notJson],
  ['a second object', `${good}\n${good}`, 'body', notJson],
  ['a byte order mark', `\uFEFF${good}`, 'body', notJson],
  ['a NUL byte behind the end', `${good}\0`, 'body', notJson],
  ['a NUL byte in a string', withState('"a\0b"'), 'body', notJson],
  ['a line break in a string', withState('"a\nb"'), 'body', notJson],
  ['a tab in a string', withState('"a\tb"'), 'body', notJson],
  ['an unknown escape', withState('"\\x41"'), 'body', notJson],
  ['a short escape', withState('"\\u12"'), 'body', notJson],
  ['a number with a leading zero', withState('01'), 'body', notJson],
  ['a number with a plus', withState('+1'), 'body', notJson],
  ['a number that ends with its point', withState('1.'), 'body', notJson],
  ['a number that begins with its point', withState('.5'), 'body', notJson],
  ['a hexadecimal number', withState('0x10'), 'body', notJson],
  ['a number without an exponent', withState('1e'), 'body', notJson],
  ['a minus alone', withState('-'), 'body', notJson],
  ['True', withState('True'), 'body', notJson],
  ['white space of another kind', `\u00a0${good}`, 'body', notJson],
  ['UTF-16', Buffer.from(good, 'utf16le'), 'body', notJson],
  ['a stray continuation byte', bytes('{"state":"', 0x80, '"}'), 'body', notUtf8],
  ['a cut character', bytes('{"state":"', 0xe2, 0x82, '"}'), 'body', notUtf8],
  ['an overlong character', bytes('{"state":"', 0xc0, 0xaf, '"}'), 'body', notUtf8],
  ['a byte that UTF-8 never has', bytes('{"state":"', 0xff, '"}'), 'body', notUtf8],
  ['a surrogate in UTF-8', bytes('{"state":"', 0xed, 0xa0, 0x80, '"}'), 'body', notUtf8],
  ['Latin-1', Buffer.from(withState('"caf\u00e9"'), 'latin1'), 'body', notUtf8],
  ['a high surrogate in the state', withState('"\\ud83d"'), 'body', surrogate],
  ['a low surrogate in the state', withState('"\\ude00 a"'), 'body', surrogate],
  ['surrogates the wrong way round', withState('["\\ude00\\ud83d"]'), 'body', surrogate],
  ['a surrogate in a name of the state', withState('{"\\ud83d":1}'), 'body', surrogate],
  ['a surrogate in a question name', asking(`{"\\ud83d":${noul}}`), 'body', surrogate],
  ['a surrogate in the type', one('{"type":"noul\\ud83d"}'), 'body', surrogate],
  ['a surrogate in instructions', one('{"type":"noul","instructions":"\\udfff"}'), 'body', surrogate],
  ['a surrogate in an option name', choice('{"\\udbff":null,"b":null}'), 'body', surrogate],
  ['a surrogate in a description', choice('{"a":"\\ud800x","b":null}'), 'body', surrogate],
  ['a surrogate in a level', score('["a","\\ud800\\ud800"]'), 'body', surrogate],
  ['a surrogate in the meaning of yes', one('{"type":"noul","criteria":{"true":"\\udc00"}}'), 'body', surrogate],
  ['a surrogate in the model', asking(`{"q":${noul}}`, '"state":"s","model":"\\ud83d"'), 'body', surrogate],
  ['a surrogate in an unknown field', `{"x":"\\ud83d",${good.slice(1)}`, 'body', surrogate],
  ['64 arrays in a state', withState(arrays(64)), 'body', tooDeep],
  ['64 objects in a state', withState(objects(64)), 'body', tooDeep],
  ['65 arrays alone', arrays(65), 'body', tooDeep],
  ['10,000 arrays in a state', withState(arrays(10_000)), 'body', tooDeep],
  ['10,000 objects in a state', withState(objects(10_000)), 'body', tooDeep],
  ['10,000 open arrays', '['.repeat(10_000), 'body', tooDeep],
  ['1,000,000 open objects', '{"a":'.repeat(600_000), 'body', tooDeep],
  ['62 arrays in instructions', one(`{"type":"noul","instructions":${arrays(62)}}`), 'body', tooDeep],
  ['10,000 objects in instructions', one(`{"type":"noul","instructions":${objects(10_000)}}`), 'body', tooDeep],
  ['61 arrays in a description', choice(`{"a":${arrays(61)},"b":1}`), 'body', tooDeep],
  ['10,000 arrays in a description', choice(`{"a":${arrays(10_000)},"b":1}`), 'body', tooDeep],
  ['61 objects in a level', score(`["a",${objects(61)}]`), 'body', tooDeep],
  ['10,000 arrays in a level', score(`["a",${arrays(10_000)}]`), 'body', tooDeep],
  ['10,000 arrays in an unknown field', `{"x":${arrays(10_000)},${good.slice(1)}`, 'body', tooDeep],
]

const wrongShape: readonly Row[] = [
  ...['null', '[]', '"s"', '1', '1.0', 'true', `[${good}]`].map(
    (body): Row => [`${body.slice(0, 9)} as the body`, body, 'body', /expected an object, got /],
  ),
  ['an empty object', '{}', 'state', /expected a string, an object.+, got nothing/],
  ['no state', `{"questions":{"q":${noul}}}`, 'state', /got nothing/],
  ['a state of null', withState('null'), 'state', /got null/],
  ['no questions', '{"state":"s"}', 'questions', /expected an object .+, got nothing/],
  ['empty questions', asking('{}'), 'questions', /at least one question, got an empty object/],
  ...['null', '[]', `[${noul}]`, '"q"', '1', '1.50', 'true'].map(
    (value): Row => [`questions: ${value.slice(0, 9)}`, asking(value), 'questions', /expected an object/],
  ),
  ...['null', '7', '1e999', '[]', '{}', 'false'].map(
    (value): Row => [
      `a model ${value}`,
      asking(`{"q":${noul}}`, `"state":"s","model":${value}`),
      'model',
      /expected a string, got /,
    ],
  ),
  ...['null', '[]', '"noul"', '1', '2.0', 'true'].map(
    (value): Row => [`a question ${value}`, one(value), 'questions.q', /expected an object, got /],
  ),
  ['an empty question', one('{}'), 'questions.q.type', /expected "noul".+ got nothing/],
  ['a type only by inheritance', one('{"__proto__":{"type":"noul"}}'), 'questions.q.type', /got nothing/],
  ...['null', '1', '[]', '{}', 'true', '["noul"]', '1.0'].map(
    (value): Row => [`a type ${value}`, one(`{"type":${value}}`), 'questions.q.type', /expected "noul"/],
  ),
  ['a choice without criteria', one('{"type":"choice"}'), 'questions.q.criteria', /options, got nothing/],
  ...['null', '[]', '["a","b"]', '"a"', '3', '3.0', 'true'].map(
    (value): Row => [`options ${value}`, choice(value), 'questions.q.criteria', /expected an object of options/],
  ),
  ['no options', choice('{}'), 'questions.q.criteria', /expected 1 to 255 options, got 0/],
  ['a score without criteria', one('{"type":"score"}'), 'questions.q.criteria', /levels, got nothing/],
  ...['null', '{}', '{"0":"a","1":"b"}', '"a"', '3', '3.0', 'true'].map(
    (value): Row => [`levels ${value}`, score(value), 'questions.q.criteria', /expected an array of levels/],
  ),
  ['no levels', score('[]'), 'questions.q.criteria', /expected 1 to 255 levels, got 0/],
  ...['[]', '"yes"', '1', '0.50', 'true'].map(
    (value): Row => [
      `noul criteria ${value}`,
      one(`{"type":"noul","instructions":"a","criteria":${value}}`),
      'questions.q.criteria',
      /expected an object with the keys true and false/,
    ],
  ),
  ...['', ',"instructions":null', ',"instructions":""', ',"criteria":{}', ',"criteria":null'].map(
    (rest): Row => [`a noul ${rest}`, one(`{"type":"noul"${rest}}`), 'questions.q', /nothing is asked/],
  ),
  ['a noul that says yes is null', one('{"type":"noul","criteria":{"true":null}}'), 'questions.q', /nothing is asked/],
  ['a question __proto__', asking('{"__proto__":{}}'), 'questions.__proto__.type', /got nothing/],
  ['a question __proto__ of null', asking('{"__proto__":null}'), 'questions.__proto__', /got null/],
  ['a question constructor', asking('{"constructor":[]}'), 'questions.constructor', /got an empty array/],
  ['a question toString', asking('{"toString":{"type":1}}'), 'questions.toString.type', /got a number/],
  ['a question 7', asking('{"7":{"type":"choice"}}'), 'questions["7"].criteria', /got nothing/],
  ['a question of no name', asking('{"":{"type":"score"}}'), 'questions[""].criteria', /got nothing/],
  ['a question of a dotted name', asking('{"a.b":0}'), 'questions["a.b"]', /got a number/],
  ['a question of a quoted name', asking('{"a\\"\\n":0}'), 'questions["a\\"\\n"]', /got a number/],
  ['a question of a long name', asking(`{"${'n'.repeat(99)}":0}`), `questions["${'n'.repeat(39)}…"]`, /got a number/],
  ['the first of two bad questions, 9', asking('{"9":1,"1":[]}'), 'questions["9"]', /got a number/],
  ['the second question', asking(`{"a":${noul},"b":{"type":"noul"}}`), 'questions.b', /nothing is asked/],
  ['a question twice', asking(`{"q":${noul},"q":${noul}}`), 'questions.q', /each name once, got it twice/],
  ['a question twice, once escaped', asking(`{"q":${noul},"\\u0071":${noul}}`), 'questions.q', /twice/],
  ['a question __proto__ twice', asking(`{"__proto__":${noul},"__proto__":${noul}}`), 'questions.__proto__', /twice/],
  ['a question 1 twice', asking(`{"1":${noul},"a":${noul},"1":${noul}}`), 'questions["1"]', /twice/],
  ['an option twice', choice('{"a":1,"b":2,"a":3}'), 'questions.q.criteria.a', /twice/],
  ['an option __proto__ twice', choice('{"__proto__":1,"__proto__":2}'), 'questions.q.criteria.__proto__', /twice/],
  ['an option 10 twice', choice('{"10":1,"10":2}'), 'questions.q.criteria["10"]', /twice/],
  ['yes twice', one('{"type":"noul","criteria":{"true":1,"true":2}}'), 'questions.q.criteria.true', /twice/],
]

const image = '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}'
const notAcceptable: readonly Row[] = [
  ...['', 'Noul', 'NOUL', 'bool', ' noul', 'noul\\u0000', '__proto__', 'constructor', 'toString'].map(
    (type): Row => [
      `a type "${type}"`,
      one(`{"type":"${type}","instructions":"a","criteria":{"a":1}}`),
      'questions.q.type',
      /expected "noul", "choice" or "score", got "/,
    ],
  ),
  ['256 options', choice(names(256, 'null')), 'questions.q.criteria', /expected 1 to 255 options, got 256/],
  ['300 options', choice(names(300, '"d"')), 'questions.q.criteria', /expected 1 to 255 options, got 300/],
  ['256 levels', score(levels(256)), 'questions.q.criteria', /expected 1 to 255 levels, got 256/],
  ['300 levels', score(levels(300)), 'questions.q.criteria', /expected 1 to 255 levels, got 300/],
  ['257 questions', asking(names(257, noul)), 'questions', /expected 1 to 256 questions, got 257/],
  ['5,000 questions', asking(names(5000, noul)), 'questions', /expected 1 to 256 questions, got 5000/],
  ...['', 'nope', '__proto__', 'Fixture', 'n'.repeat(10_000)].map(
    (model): Row => [
      `a model "${model.slice(0, 9)}"`,
      asking(`{"q":${noul}}`, `"state":"s","model":"${model}"`),
      'model',
      /expected one of fixture, default, latest, jev-latest, jev-preview, got "/,
    ],
  ),
  ['an image as the state', withState(image), 'state', /expected no image, the model fixture/],
  ['an image in an object', withState(`{"photo":${image}}`), 'state.photo', /expected no image/],
  ['an image in a list', withState(`["a",${image}]`), 'state[1]', /expected no image/],
  ['an image 60 levels down', withState(`${'['.repeat(60)}${image}${']'.repeat(60)}`), `state${'[0]'.repeat(60)}`, /expected no image/],
  ['an image under __proto__', withState(`{"__proto__":${image}}`), 'state.__proto__', /expected no image/],
  ['a remote image', withState('{"a":{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}}'), 'state.a', /expected no image/],
  ['an image_url', withState('[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]'), 'state[0]', /expected no image/],
  ['an image_url in short', withState('[{"type":"image_url","image_url":"data:image/png;base64,AA=="}]'), 'state[0]', /expected no image/],
  ['an image of a data URL', withState('{"image":{"url":"data:image/png;base64,AA=="}}'), 'state', /expected no image/],
  ['images beside the state', asking(`{"q":${noul}}`, '"state":"s","images":["data:image/png;base64,AA=="]'), 'images', /expected no image/],
]

const contentTypes = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a',
  'application/jsonp', 'application/x-ndjson', 'application', 'text/json', '*/*', ';', 'json']
  .flatMap((type) =>
    rows(400, [[`the content type ${type}`, good, 'Content-Type', /expected application\/json/]], {
      headers: { 'content-type': type },
    }),
  )

const words = 'river stone '.repeat(3000)
const count = /take \d+ tokens \(\d+ and \d+\), the limit is 4096$/
const tooLong: readonly Row[] = [
  ['a state that does not fit', withState(`"${words}"`), 'state', count],
  ['a state and instructions that do not fit', asking(`{"q":{"type":"noul","instructions":"${words}"}}`), 'state', count],
  ['one option that does not fit', asking(`{"a":${noul},"b":{"type":"choice","criteria":{"a":"${words}","b":1}}}`), 'state', count],
]

export const badRequests: readonly BadRequest[] = [
  ...rows(422, json),
  ...rows(422, wrongShape),
  ...rows(400, notAcceptable),
  ...contentTypes,
  ...rows(400, tooLong, { counted: true }),
  ...rows(413, [['5 MiB', huge, 'The body', /limit of 4194304 bytes/]]),
  ...rows(413, [['5 MiB in chunks', huge, 'The body', /limit of 4194304 bytes/]], { chunked: true }),
]
