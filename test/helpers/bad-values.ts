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
export const badValues: readonly Row[] = [
  ...[
    '',
    'Noul',
    'NOUL',
    'bool',
    ' noul',
    'noul\\u0000',
    '__proto__',
    'constructor',
    'toString',
  ].map((type): Row => [
    `a type "${type}"`,
    one(`{"type":"${type}","instructions":"a","criteria":{"a":1}}`),
    'questions.q.type',
    /expected "noul", "choice" or "score", got "/,
  ]),
  [
    '256 options',
    choice(names(256, 'null')),
    'questions.q.criteria',
    /expected 1 to 255 options, got 256/,
  ],
  [
    '300 options',
    choice(names(300, '"d"')),
    'questions.q.criteria',
    /expected 1 to 255 options, got 300/,
  ],
  ['256 levels', score(levels(256)), 'questions.q.criteria', /expected 1 to 255 levels, got 256/],
  ['300 levels', score(levels(300)), 'questions.q.criteria', /expected 1 to 255 levels, got 300/],
  ['401 questions', asking(names(401, noul)), 'questions', /expected 1 to 400 questions, got 401/],
  [
    '5,000 questions',
    asking(names(5000, noul)),
    'questions',
    /expected 1 to 400 questions, got 5000/,
  ],
  ...['', 'nope', '__proto__', 'Fixture', 'n'.repeat(10_000)].map((model): Row => [
    `a model "${model.slice(0, 9)}"`,
    withModel(`"${model}"`),
    'model',
    /expected one of fixture, default, latest, jev-latest, jev-preview, got "/,
  ]),
  ['an image as the state', withState(image), 'state', /expected no image, the model fixture/],
  ['an image in an object', withState(`{"photo":${image}}`), 'state.photo', /expected no image/],
  ['an image in a list', withState(`["a",${image}]`), 'state[1]', /expected no image/],
  [
    'an image 60 levels down',
    withState(`${'['.repeat(60)}${image}${']'.repeat(60)}`),
    `state${'[0]'.repeat(60)}`,
    /expected no image/,
  ],
  [
    'an image under __proto__',
    withState(`{"__proto__":${image}}`),
    'state.__proto__',
    /expected no image/,
  ],
  [
    'a remote image',
    withState('{"a":{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}}'),
    'state.a',
    /expected no image/,
  ],
  [
    'an image_url',
    withState('[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]'),
    'state[0]',
    /expected no image/,
  ],
  [
    'an image_url in short',
    withState('[{"type":"image_url","image_url":"data:image/png;base64,AA=="}]'),
    'state[0]',
    /expected no image/,
  ],
  [
    'an image of a data URL',
    withState('{"image":{"url":"data:image/png;base64,AA=="}}'),
    'state',
    /expected no image/,
  ],
  [
    'images beside the state',
    asking(`{"q":${noul}}`, '"state":"s","images":["data:image/png;base64,AA=="]'),
    'images',
    /expected no image/,
  ],
]

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
