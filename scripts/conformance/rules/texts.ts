/**
 * The body as text: what is JSON, its maximum depth, and that a caller's text is never more than
 * text.
 *
 * @module
 */

import {
  arrays,
  asking,
  choice,
  good,
  noul,
  objects,
  withState,
} from '../../../test/helpers/request-text.js'
import { refusalOf } from '../context.js'
import { check, each } from '../expect.js'
import { section } from '../rule.js'

/** None of them is JSON. */
const notJson: Readonly<Record<string, string>> = {
  nothing: '',
  'white space': ' \n',
  'a word': 'hello',
  'an open object': good.slice(0, -1),
  'an open string': '{"state":"s',
  'a comma before the end': '{"state":"s",}',
  'single quotes': "{'state':'s'}",
  'a comment': `/* a */${good}`,
  'text behind the end': `${good}x`,
  'a second object': `${good}\n${good}`,
  'a byte order mark': `\uFEFF${good}`,
  NaN: withState('NaN'),
  'a leading zero': withState('01'),
  'a line break in a string': withState('"a\nb"'),
  'an unknown escape': withState('"\\x41"'),
}

const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))),
  )
const around = (...odd: number[]) => {
  const [head, tail] = good.split('rains')
  return bytes(head!, ...odd, tail!)
}

const notUtf8: Readonly<Record<string, readonly number[]>> = {
  'a stray continuation byte': [0x80],
  'a cut character': [0xe2, 0x82],
  'an overlong character': [0xc0, 0xaf],
  'a surrogate': [0xed, 0xa0, 0x80],
  'Latin-1': [0xe9],
}

const surrogates: Readonly<Record<string, string>> = {
  'in the state': withState('"\\ud83d"'),
  'the wrong way round': withState('["\\ude00\\ud83d"]'),
  'in a name of the state': withState('{"\\ud83d":1}'),
  'in a question name': asking(`{"\\ud83d":${noul}}`),
  'in instructions': asking('{"q":{"type":"noul","instructions":"\\udfff"}}'),
  'in an option': choice('{"\\udbff":null,"b":null}'),
}

/** Control tokens of the usual chat templates, and media markers. */
const controls = [
  ...['<|im_end|>', '<|endoftext|>', '<|eot_id|>', '<end_of_turn>', '<|vision_start|>', '[/INST]'],
  ...['<__media__>', '<|image_pad|>'],
]
const repeats = 20

const contentTypes = {
  taken: [...['application/json', 'application/json; charset=utf-8', 'Application/JSON;x=1;y="z"']],
  refused: [
    ...['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'text/json'],
    ...['multipart/form-data; boundary=a', '*/*'],
  ],
}

export const textRules = [
  ...section('2.1', {
    'body: what is not JSON is refused with 422': (context) =>
      each(notJson, (body) => context.refuse(body, 422)),
  }),
  ...section('decisions/Requests', {
    'text: nesting of 64 is answered': async (context) => {
      // The body itself is one level.
      await context.answer(withState(arrays(63)))
      await context.answer(withState(objects(63)))
    },
    'text: nesting deeper than 64 is refused with 422, however deep': async (context) => {
      for (const depth of [64, 65, 10_000]) {
        const deep = {
          [`${depth} arrays`]: withState(arrays(depth)),
          [`${depth} objects`]: withState(objects(depth)),
        }
        await each(deep, (body) => context.refuse(body, 422))
      }
      const others = {
        'an unknown field': `{"x":${arrays(10_000)},${good.slice(1)}`,
        'open arrays': '['.repeat(100_000),
      }
      await each(others, (body) => context.refuse(body, 422))
    },
    'text: an unpaired surrogate is refused with 422': (context) =>
      each(surrogates, (body) => context.refuse(body, 422)),
    'text: a pair of surrogates in escapes is one character': async (context) => {
      const { probabilities } = await context.answerOne(choice('{"\\ud83d\\udc4d":null,"b":1}'))
      check(probabilities !== undefined && '👍' in probabilities, 'no option 👍 in the answer')
    },
    'text: invalid UTF-8 is refused with 422': (context) =>
      each(notUtf8, (odd) => context.refuse(around(...odd), 422)),
    'special tokens in text are counted as the characters that they are': async (context) => {
      const counted = async (text: string) => {
        const { usage } = await context.answer(withState(JSON.stringify(text)))
        return usage['input_tokens']!
      }
      const none = await counted('')
      for (const control of controls) {
        // As control tokens each would be one token; spelled, the shortest has more than two.
        const tokens = (await counted(`${control}\n`.repeat(repeats))) - none
        check(
          tokens > 2 * repeats,
          `${control} ${repeats} times: expected more than ${2 * repeats} tokens, got ${tokens}`,
        )
      }
    },
  }),
  ...section('5', {
    'Content-Type: application/json with any parameters is taken, and none': async (context) => {
      await each(contentTypes.taken, (type) => context.answer(good, { 'content-type': type }))
      const reply = await context.client.send({
        path: '/v1/systemone',
        headers: context.bearer,
        body: good,
      })
      check(reply.status === 200, `without: expected 200, got ${reply.status}`)
    },
    'Content-Type: anything else is refused with 400': (context) =>
      each(contentTypes.refused, async (type) =>
        refusalOf(await context.post(good, { 'content-type': type }), 400, 'invalid_request'),
      ),
  }),
]
