/**
 * Section 2.1: the body of a request, and the additions of decisions.md.
 *
 * @module
 */

import {
  asking,
  choice,
  noul,
  one,
  withModel,
  withState,
} from '../../../test/helpers/request-text.js'
import { namesIn, refused } from '../context.js'
import { about, check, each, equal, near, sameAnswer } from '../expect.js'
import { section } from '../rule.js'

const states: Readonly<Record<string, string>> = {
  'a string': '"It rains."',
  'an empty string': '""',
  'an object': '{"weather":{"rain":true,"mm":[1,2.5,null]}}',
  'an empty object': '{}',
  'an array': '["rain",1,null,[],{"a":false}]',
  'an empty array': '[]',
  'a number': '-4.5',
  zero: '0',
  true: 'true',
  false: 'false',
}

/** Names that JavaScript inherits, sorts or trims elsewhere. */
const oddNames = [
  ...['9', '1', '', ' ', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '0', '-1'],
  ...['01', 'team', 'Team', 'a.b', 'a"b', 'سؤال', '👍🏽', '\u0000', 'n'.repeat(300)],
]
const objectOf = (names: readonly string[], value: string) =>
  `{${names.map((name) => `${JSON.stringify(name)}:${value}`).join()}}`

const inheritedByDefault = ['default', 'latest', 'jev-latest', 'jev-preview']

export const requestRules = [
  ...section('2.1', {
    'state: a string, object, array, number or boolean is answered': (context) =>
      each(states, (state) => context.answer(withState(state))),
    'state: absent or null is refused with 422': refused(422, 'state', [
      withState('null'),
      `{"questions":{"q":${noul}}}`,
    ]),
    'questions: absent, of another type or empty is refused with 422': refused(422, 'questions', [
      '{"state":"s"}',
      ...['null', '[]', `[${noul}]`, '"q"', '1', 'true', '{}'].map((value) => asking(value)),
    ]),
    'model: omitted, the default model answers': async (context) => {
      const { name } = await context.card()
      equal('model', (await context.answer(withState('"s"'))).model, name)
    },
    'model: each name and alias of GET /v1/models is answered by its model': async (context) => {
      for (const { name, aliases } of await context.cards()) {
        await each([name, ...aliases], async (called) => {
          const { model } = await context.answer(withModel(JSON.stringify(called)))
          equal('model', model, name)
        })
      }
    },
    'model: of another type is refused with 422': refused(
      422,
      'model',
      ['null', '7', '[]', '{}', 'false'].map(withModel),
    ),
    'body: JSON that is no object is refused with 422': refused(422, '', [
      ...['null', '[]', '"s"', '1', 'true', `[${withState('"s"')}]`],
    ]),
  }),
  ...section('decisions/Requests', {
    'model: the default model answers to default, latest, jev-latest and jev-preview': async (
      context,
    ) => {
      const { name } = await context.card()
      for (const called of inheritedByDefault) {
        const { model } = await context.answer(withModel(JSON.stringify(called)))
        equal(`model of ${called}`, model, name)
      }
    },
    'model: unknown is refused with 400, and the message lists the names': async (context) => {
      const { message } = await context.refuse(withModel('"no-such-model"'), 400, 'model')
      for (const { name, aliases } of await context.cards()) {
        for (const known of [name, ...aliases]) check(message.includes(known), `no ${known} in it`)
      }
    },
    'unknown fields are ignored at every depth, and x-oi-ignored names them': async (context) => {
      const { answers, reply } = await context.answer(
        `{"unknown":{"a":[1]},"state":"s","temperature":0,"stream":true,"questions":{
          "q":{"type":"noul","instructions":"Is it?","unknown":{"type":"x"},"criteria":{"true":"t","maybe":"m"}},
          "r":{"type":"choice","criteria":{"a":{"unknown":1},"b":null},"n":[null]}}}`,
      )
      equal('names of the answers', Object.keys(answers).sort(), ['q', 'r'])
      const named = (reply.headers['x-oi-ignored'] ?? '').split(', ').sort()
      equal('x-oi-ignored', named, [
        'questions.q.criteria.maybe',
        'questions.q.unknown',
        'questions.r.n',
        'stream',
        'temperature',
        'unknown',
      ])
      const plain = await context.answer(asking(objectOf(['q'], noul)))
      equal('x-oi-ignored of a plain one', plain.reply.headers['x-oi-ignored'], undefined)
    },
    'x-oi-ignored names the first eight, of questions that were asked before too': async (
      context,
    ) => {
      const unknown = objectOf([...'abcdefghij'], '1').slice(1, -1)
      const body = `{"state":"s","questions":{"q":{"type":"noul","instructions":"Is it so?",${unknown}}}}`
      for (let round = 0; round < 4; round++) {
        const { reply } = await context.answer(body)
        const named = (reply.headers['x-oi-ignored'] ?? '').split(', ')
        const first = [...'abcdefgh'].map((name) => `questions.q.${name}`)
        equal('names', named, first)
      }
    },
    'question names: any string is answered under itself': async (context) => {
      const { reply } = await context.answer(asking(objectOf(oddNames, noul)))
      equal('names', [...namesIn(reply, 'answers')].sort(), [...oddNames].sort())
    },
    'question names: renaming a question does not change its answer': async (context) => {
      const asked = (name: string) => asking(objectOf([name], noul), '"state":"It rains."')
      const { answers } = await context.answer(asked('q'))
      for (const name of ['', 'Say yes', '__proto__', '7']) {
        const { answers: renamed } = await context.answer(asked(name))
        const what = `noul as ${JSON.stringify(name)}`
        near(what, renamed[name]?.noul, answers['q']!.noul!, sameAnswer)
      }
    },
    'order: answers keep that of the questions, integer-like names included': async (context) => {
      const { reply } = await context.answer(asking(objectOf(oddNames, noul)))
      equal('names', namesIn(reply, 'answers'), oddNames)
    },
    'order: probabilities keep that of the options, integer-like names included': async (
      context,
    ) => {
      const { reply } = await context.answer(choice(objectOf(oddNames, 'null')))
      equal('names', namesIn(reply, 'answers', 'q', 'probabilities'), oddNames)
    },
    'a name that stands twice at the root or in a question is refused with 422': async (
      context,
    ) => {
      for (const [body, place] of [
        [asking(`{"q":${noul}}`, '"state":"s","state":"t"'), 'state'],
        [asking(`{"q":${noul}},"questions":{"r":${noul}}`), 'questions'],
        [one('{"type":"noul","instructions":"a","instructions":"b"}'), 'questions.q.instructions'],
        [one('{"type":"noul","type":"score","instructions":"a"}'), 'questions.q.type'],
        [asking(`{"q":${noul}}`, '"state":"s","assets":{"p":{},"p":{}}'), 'assets.p'],
      ] as const) {
        await about(body, () => context.refuse(body, 422, place))
      }
    },
    'a name that stands twice in the state is data: the last one counts': async (context) => {
      const asked = async (state: string) =>
        (await context.answer(asking(`{"q":${noul}}`, `"state":${state}`))).answers['q']!.noul!
      near('noul', await asked('{"a":"rain","a":"sun"}'), await asked('{"a":"sun"}'), sameAnswer)
    },
    'audio, video and documents are refused with 400 at their place': (context) => {
      const base64 = 'SUQzBAAAAAAA'
      const media = {
        input_audio: `{"type":"input_audio","input_audio":{"data":"${base64}","format":"wav"}}`,
        audio: `{"type":"audio","source":{"type":"base64","media_type":"audio/mp3","data":"${base64}"}}`,
        document: `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"${base64}"}}`,
        video_url: `{"type":"video_url","video_url":{"url":"https://a.example/a.mp4"}}`,
        'a data URL': `"data:audio/mpeg;base64,${base64}"`,
      }
      return each(media, (block) =>
        context.refuse(withState(`{"a":[{"b":${block}}]}`), 400, 'state.a[0].b'),
      )
    },
    'a name that stands twice in questions is refused with 422': async (context) => {
      for (const names of [
        ['q', 'q'],
        ['1', 'a', '1'],
        ['__proto__', '__proto__'],
      ]) {
        const [name] = names as [string]
        await about(name, () => context.refuse(asking(objectOf(names, noul)), 422, name))
      }
      const escaped = asking(`{"q":${noul},"\\u0071":${noul}}`)
      await about('once escaped', () => context.refuse(escaped, 422, 'q'))
    },
    'a name that stands twice in criteria is refused with 422': refused(
      422,
      'questions.q.criteria',
      [
        choice('{"a":1,"b":2,"a":3}'),
        choice('{"10":1,"10":2}'),
        one('{"type":"noul","instructions":"?","criteria":{"true":1,"true":2}}'),
      ],
    ),
  }),
]
