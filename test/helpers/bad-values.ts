/**
 * Requests of the right shape that cannot be answered: 400, naming the place.
 */
import type { Row } from './bad-requests.js'
import {
  asking,
  choice,
  levels,
  names,
  noul,
  one,
  score,
  withModel,
  withState,
} from './request-text.js'

const image =
  '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}'
const dataUrl = 'data:image/png;base64,AA=='

/** Too many of something at one place. */
const counts = (place: string, most: string, bodies: Readonly<Record<number, string>>) =>
  Object.entries(bodies).map(([count, body]): Row => {
    return [`${count} instead of ${most}`, body, place, `expected ${most}, got ${count}`]
  })

/** Images for a model that reads text: body and place of each. */
const images: Readonly<Record<string, readonly [body: string, place: string]>> = {
  'an image as the state': [withState(image), 'state'],
  'an image in an object': [withState(`{"photo":${image}}`), 'state.photo'],
  'an image in a list': [withState(`["a",${image}]`), 'state[1]'],
  'an image 60 levels down': [
    withState(`${'['.repeat(60)}${image}${']'.repeat(60)}`),
    `state${'[0]'.repeat(60)}`,
  ],
  'an image under __proto__': [withState(`{"__proto__":${image}}`), 'state.__proto__'],
  'a remote image': [
    withState('{"a":{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}}'),
    'state.a',
  ],
  'an image_url': [
    withState(`[{"type":"image_url","image_url":{"url":"${dataUrl}"}}]`),
    'state[0]',
  ],
  'an image_url in short': [
    withState(`[{"type":"image_url","image_url":"${dataUrl}"}]`),
    'state[0]',
  ],
  'an image of a data URL': [withState(`{"image":{"url":"${dataUrl}"}}`), 'state'],
  'images beside the state': [
    asking(`{"q":${noul}}`, `"state":"s","images":["${dataUrl}"]`),
    'images',
  ],
}

/** Known to the reader of a body, which has no model. */
export const badCounts: readonly Row[] = [
  ...[
    ...['', 'Noul', 'NOUL', 'bool', ' noul', 'noul\\u0000', '__proto__', 'constructor', 'toString'],
  ].map((type): Row => [
    `a type "${type}"`,
    one(`{"type":"${type}","instructions":"a","criteria":{"a":1}}`),
    'questions.q.type',
    `expected "noul", "choice" or "score", got "${type}"`,
  ]),
  [
    'a question about a place in an image',
    one('{"type":"box","instructions":"the cup"}'),
    'questions.q.type',
    'expected "noul", "choice" or "score", got "box": no model here can tell a place in an image',
  ],
  ...counts('questions.q.criteria', '1 to 255 options', {
    256: choice(names(256, 'null')),
    300: choice(names(300, '"d"')),
  }),
  ...counts('questions.q.criteria', '1 to 255 levels', {
    256: score(levels(256)),
    300: score(levels(300)),
  }),
  ...counts('questions', '1 to 400 questions', {
    401: asking(names(401, noul)),
    5000: asking(names(5000, noul)),
  }),
]

/** Of a model that is named `fixture`, and reads text. */
export const badForModel: readonly Row[] = [
  ...['', 'nope', '__proto__', 'Fixture', 'n'.repeat(10_000)].map((model): Row => [
    `a model "${model.slice(0, 9)}"`,
    withModel(`"${model}"`),
    'model',
    'expected one of fixture, default, latest, jev-latest, jev-preview, got "',
  ]),
  ...Object.entries(images).map(([what, [body, place]]): Row => [
    what,
    body,
    place,
    'expected no image, the model fixture',
  ]),
]

export const badValues: readonly Row[] = [...badCounts, ...badForModel]

const words = 'river stone '.repeat(3000)
/** Not read to its end: how many tokens it has is not known. */
const count = /takes more than 4096 tokens, the limit is 4096$/
export const tooLong: readonly Row[] = [
  ['a state that does not fit', withState(`"${words}"`), 'state', count],
  [
    'a state and instructions that do not fit',
    asking(`{"q":{"type":"noul","instructions":"${words}"}}`),
    'questions.q',
    count,
  ],
  [
    'one option that does not fit',
    asking(`{"a":${noul},"b":{"type":"choice","criteria":{"a":"${words}","b":1}}}`),
    'questions.b',
    count,
  ],
]
