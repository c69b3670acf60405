/**
 * `markers@1` with texts that are read alone, too: src/prompt/hidden/README.md.
 *
 * Needs the built addon and the `encoder` fixture. Expected values are computed here in double
 * precision from the same weights; bound 1e-3 relative.
 */
import t from 'tap'
import { optionTexts } from '../../src/prompt/hidden/pass-text.js'
import type { MetaValue } from '../helpers/gguf-file.js'
import {
  markerLogits,
  mixedRequest,
  renderedBy,
  testFault,
  testLogits,
  withMarkers,
} from '../helpers/markers.js'
import { createRandom } from '../helpers/random.js'
import { relativeError } from '../helpers/reference.js'

const head = 'oi.markers.head.'
const alone = { 'oi.markers.alone': '[CLS]{text}[SEP]' }
/** Of the fixture's states. */
const width = 64

const random = createRandom(3)
/** As small as the fixture's own: larger ones make more of rounding. */
const numbers = (count: number) =>
  Float32Array.from({ length: count }, () => (random.next() - 0.5) / 4)

const variants: [string, Record<string, MetaValue | undefined>][] = [
  [
    'vectors of texts alone',
    {
      ...alone,
      [`${head}inputs`]: ['alone.question', 'alone.option*alone.state', '|option-alone.option|'],
    },
  ],
  [
    'cosines of texts alone as inputs, the state last',
    {
      ...alone,
      'oi.markers.template': '[CLS]{options}[SEP]{question}[SEP]{state}[SEP]',
      [`${head}inputs`]: ['marker', 'cos(alone.option,alone.state)', 'cos(alone.question,state)'],
      [`${head}hidden.weight`]: numbers(32 * (width + 2)),
    },
  ],
  [
    'a cosine of texts alone, times what the marker says',
    {
      ...alone,
      [`${head}cosine.alone`]: true,
      [`${head}cosine.gate`]: numbers(width),
      [`${head}cosine.weight`]: undefined,
    },
  ],
  [
    'a cosine of question and state, times what the marker says',
    { ...alone, [`${head}question.gate`]: numbers(width) },
  ],
]

for (const [name, changes] of variants) testLogits(name, changes)

t.test('what is read alone is read once for a request, and counted', (t) =>
  withMarkers(t.testdir(), alone, async (engine) => {
    const request = mixedRequest(50)
    const input = await renderedBy(engine, request)
    const count = async (text: string) =>
      (await engine.tokenize([{ text, trusted: false }]))[0]!.length
    const texts = new Set([request.state as string])
    for (const question of Object.values(request.questions)) {
      texts.add(question.instructions as string)
      for (const option of optionTexts(question, false)) texts.add(option)
    }
    const own = [input.prefix, ...input.suffixes.map(({ parts }) => parts)]
    const [state, ...questions] = await Promise.all(
      own.map(async (parts) => {
        const tokens = await engine.tokenize(parts)
        return tokens.reduce((sum, { length }) => sum + length, 0)
      }),
    )
    const once = questions.reduce((sum, tokens) => sum + tokens, state!)
    const passes = once + (questions.length - 1) * state!
    let all = passes
    for (const text of texts) all += 2 + (await count(text))
    const output = await engine.score(input)
    t.equal(output.prefixTokens + output.suffixTokens, once)
    t.equal(output.evaluatedTokens, all)
    t.equal(engine.stats().evaluatedTokens, all)
    t.equal(engine.stats().steps, 1, 'in one batch')

    const again = await engine.score(input)
    t.ok(relativeError([...again.logits], [...output.logits]) < 1e-4)
    t.equal(again.prefixTokens + again.suffixTokens, once, 'counted as before')
    t.equal(again.evaluatedTokens, passes)
    t.equal(engine.stats().evaluatedTokens, all + passes, 'but not read again')
  }),
)

t.test('deterministic, what was read before changes no bit', (t) =>
  withMarkers(
    t.testdir(),
    { ...alone, [`${head}cosine.alone`]: true, [`${head}cosine.weight`]: undefined },
    async (engine) => {
      const first = await markerLogits(engine, mixedRequest(40))
      t.strictSame(await markerLogits(engine, mixedRequest(40)), first)
    },
    { deterministic: true },
  ),
)

const faults: [string, Record<string, MetaValue | undefined>, RegExp][] = [
  [
    'a template without a place for a text alone',
    { 'oi.markers.alone': '[CLS][SEP]' },
    /oi\.markers\.alone: expected {text} once/,
  ],
  [
    'an input that is not read alone',
    { [`${head}inputs`]: ['alone.state'] },
    /head\.inputs: .* got alone\.state/,
  ],
  [
    'a cosine of what is not read alone',
    { [`${head}cosine.alone`]: true },
    /cosine\.alone: expected oi\.markers\.alone/,
  ],
  [
    'a gate of what is not read alone',
    { [`${head}question.gate`]: new Float32Array(width) },
    /question\.gate: expected oi\.markers\.alone/,
  ],
  ['a short gate', { [`${head}cosine.gate`]: new Float32Array(2) }, /cosine\.gate: expected/],
]

for (const [name, changes, message] of faults) testFault(name, changes, message)
