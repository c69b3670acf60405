/**
 * What is sent is read: all of it, and as it was sent. Another text must show in the numbers of the
 * reply, whatever they are; so no rule here depends on a model's quality.
 *
 * @module
 */

import { asking, choice, noul, one, score, withState } from '../../../test/helpers/request-text.js'
import { type Context, namesIn, numbersOf } from '../context.js'
import { about, check, equal, skip } from '../expect.js'
import { section } from '../rule.js'

/** Numbers that differ by less are those of one prompt. */
const sameNumbers = 1e-7

/** The tokens and all numbers of the answers to a body. */
async function allNumbers(context: Context, body: string): Promise<readonly number[]> {
  // Asked before, its text is in any cache, and a cache has no part in a difference.
  await context.answer(body)
  const { answers, usage } = await context.answer(body)
  const numbers = Object.values(answers).flatMap((answer) => Object.values(numbersOf(answer)))
  return [usage['input_tokens']!, ...numbers]
}

/** Whether two bodies are told apart. */
async function differ(context: Context, one: string, other: string): Promise<boolean> {
  const [a, b] = [await allNumbers(context, one), await allNumbers(context, other)]
  return a.length !== b.length || a.some((value, i) => Math.abs(value - b[i]!) > sameNumbers)
}

async function requireTold(
  context: Context,
  pairs: Readonly<Record<string, readonly [one: string, other: string]>>,
): Promise<void> {
  for (const [what, [one, other]] of Object.entries(pairs)) {
    check(await differ(context, one, other), `${what}: the same numbers for ${one} and ${other}`)
  }
}

const asks = (instructions: string) => one(`{"type":"noul","instructions":${instructions}}`)
const words = 'It rains on the old road to the sea, and the bus is late again. '
const long = (end: string) => withState(JSON.stringify(`${words.repeat(12)}${end}`))

/** Texts, and what a careless server makes of them. */
const spoilt: Readonly<Record<string, readonly (readonly [text: string, spoilt: string])[]>> = {
  'upper and lower case': [
    ['May met POLISH men in Reading.', 'may met polish men in reading.'],
    ['US and IT staff', 'us and it staff'],
    ['ATTENTION: NO ENTRY', 'attention: no entry'],
  ],
  'spaces within': [
    ['a  b     c', 'a b c'],
    ['if x:\n    y\n  z', 'if x: y z'],
  ],
  'spaces around': [
    ['   rain', 'rain'],
    ['rain\n\n\n', 'rain'],
  ],
  'the form of letters': [
    ['Zoe\u0308 in A\u030Angstro\u0308m', 'Zo\u00EB in \u00C5ngstr\u00F6m'],
    ['\uFF21\uFF22\uFF23 \u2460', 'ABC 1'],
  ],
}

/** How many of the pairs are told apart in a place. */
async function toldIn(
  context: Context,
  pairs: readonly (readonly [string, string])[],
  bodyWith: (text: string) => string,
): Promise<number> {
  let told = 0
  for (const [text, other] of pairs) {
    const [a, b] = [JSON.stringify(text), JSON.stringify(other)]
    if (await differ(context, bodyWith(a), bodyWith(b))) told++
  }
  return told
}

/** Names that look alike, each in a form of its own. */
const alike = [
  ...['\u00C5', 'A\u030A', '\u212B', '\uFB01', 'fi', 'Stra\u00DFe', 'strasse', 'Strasse'],
  ...['a', ' a', 'a ', 'a\u00A0', 'a\u200B', '\u0430', '\uFF41', 'A'],
]
const listed = (value: string) =>
  `{${alike.map((name) => `${JSON.stringify(name)}:${value}`).join()}}`

export const readingRules = [
  ...section('2.1', {
    'state: all of it is read, its beginning and its end': (context) =>
      requireTold(context, {
        'a short one': [withState('"It rains."'), withState('"I was charged twice."')],
        'the beginning': [
          long('').replace('It rains', 'It snows'),
          long('').replace('It rains', 'He sings'),
        ],
        'the end': [long('It is cold.'), long('A dog barks.')],
        'a number': [withState('{"n":4711}'), withState('{"n":4712}')],
        'a truth': [withState('{"paid":true}'), withState('{"paid":false}')],
        'a name in an object': [withState('{"sender":"Ann"}'), withState('{"reader":"Ann"}')],
        'something deep': [
          withState('{"a":[{"b":[{"c":"sun"}]}]}'),
          withState('{"a":[{"b":[{"c":"rain"}]}]}'),
        ],
      }),
    'state: an array is not the text of its members': (context) =>
      requireTold(
        context,
        Object.fromEntries(
          [', ', ',', ' ', '\n', ''].flatMap((between) => {
            const joined = JSON.stringify(['rain', 'sun', 'a dog'].join(between))
            const array = withState('["rain","sun","a dog"]')
            return [
              [`joined by ${JSON.stringify(between)}`, [array, withState(joined)]],
              [`as one member, by ${JSON.stringify(between)}`, [array, withState(`[${joined}]`)]],
            ] as const
          }),
        ),
      ),
    'state: it is read as finely as instructions: case, spaces, forms of letters': async (
      context,
    ) => {
      let fine = 0
      for (const [what, pairs] of Object.entries(spoilt)) {
        // Many models tell none of some: what they tell in instructions, they tell in a state.
        if ((await toldIn(context, pairs, asks)) < pairs.length) continue
        fine++
        const told = await toldIn(context, pairs, withState)
        equal(`${what}: pairs that are told apart, as in instructions`, told, pairs.length)
      }
      if (fine === 0) skip('the model tells neither case, spaces nor forms of letters apart')
    },
  }),
  ...section('2.2', {
    'instructions are read, all of them': (context) =>
      requireTold(context, {
        'a text': [asks('"Is it about rain?"'), asks('"Is it about money?"')],
        'its end': [asks(`"${words.repeat(4)}Is it so?"`), asks(`"${words.repeat(4)}Was it he?"`)],
        'an object': [asks('{"ask":{"about":"rain"}}'), asks('{"ask":{"about":"money"}}')],
      }),
    'criteria of choice: names and descriptions are read': async (context) => {
      await requireTold(context, {
        names: [choice('{"rain":null,"sun":null}'), choice('{"money":null,"sun":null}')],
        descriptions: [
          choice('{"a":"it rains","b":"it is dry"}'),
          choice('{"a":"somebody pays","b":"it is dry"}'),
        ],
        'whose description it is': [
          choice('{"a":"it rains","b":"somebody pays"}'),
          choice('{"a":"somebody pays","b":"it rains"}'),
        ],
        'a description deep in data': [
          choice('{"a":{"is":["rain"]},"b":null}'),
          choice('{"a":{"is":["money"]},"b":null}'),
        ],
      })
      const tokens = async (description: string) =>
        (await context.answer(choice(`{"a":"${description}","b":null}`))).usage['input_tokens']!
      const [short, longer] = [await tokens('rain'), await tokens(words)]
      check(longer > short, `input_tokens: ${short} of a word, ${longer} of a sentence`)
    },
    'criteria of noul: what counts as yes and as no is read': (context) => {
      const asked = (criteria: string) =>
        one(`{"type":"noul","instructions":"Is it?","criteria":${criteria}}`)
      return requireTold(context, {
        true: [asked('{"true":"it rains"}'), asked('{"true":"somebody pays"}')],
        false: [
          asked('{"true":"a","false":"it rains"}'),
          asked('{"true":"a","false":"somebody pays"}'),
        ],
      })
    },
    'criteria of score: the text of each level is read': (context) =>
      requireTold(context, {
        'the lowest': [score('["dry","b","c"]'), score('["cheap","b","c"]')],
        'the middle': [score('["a","damp","c"]'), score('["a","fair","c"]')],
        'the highest': [score('["a","b","wet"]'), score('["a","b","dear"]')],
      }),
  }),
  ...section('decisions/Requests', {
    'names that only look alike are different names, and come back as they were sent': async (
      context,
    ) => {
      const { reply: chosen } = await context.answer(choice(listed('null')))
      equal('options', namesIn(chosen, 'answers', 'q', 'probabilities'), alike)
      const { reply: asked } = await context.answer(asking(listed(noul)))
      equal('questions', namesIn(asked, 'answers'), alike)
      const { legend } = await context.answerOne(score(JSON.stringify(alike)))
      equal('legend', Object.values(legend ?? {}), alike)
      await about('the choice itself', async () => {
        for (const name of ['A\u030A', '\uFB01', 'a ']) {
          const { choice: only } = await context.answerOne(choice(`{${JSON.stringify(name)}:null}`))
          equal('choice', only, name)
        }
      })
    },
  }),
]
