/**
 * `markers@1`: an encoder answers by the rules of src/prompt/hidden/README.md, alone and beside
 * other requests.
 *
 * Needs the built addon and the `encoder` fixture. Expected values are computed here in double
 * precision from the same weights; bound 1e-3 relative.
 */
import t from 'tap'
import { join } from 'node:path'
import type { DecideRequest } from '../../src/decide/types.js'
import type { Engine } from '../../src/engine/types.js'
import { EncoderReference } from '../helpers/encoder-reference.js'
import { fixturePath, openEngine, outcomeOf, text } from '../helpers/fixture.js'
import { type MetaValue, readGguf, writeGguf } from '../helpers/gguf-file.js'
import {
  expectedLogits,
  markerLogits,
  mixedRequest,
  renderedBy,
  testFault,
  testLogits,
  withMarkers,
} from '../helpers/markers.js'
import { relativeError } from '../helpers/reference.js'
import { half } from '../helpers/vectors.js'

const head = 'oi.markers.head.'
const variants: [string, Record<string, MetaValue | undefined>][] = [
  ['state first, options beside each other', {}],
  ['one position after another', { 'oi.markers.positions': 'sequential' }],
  ['state last', { 'oi.markers.template': '[CLS]{question}[SEP]{options}[SEP]{state}[SEP]' }],
  [
    'state last, options before the question, one position after another',
    {
      'oi.markers.template': '[CLS]{options}[SEP]{question}[SEP]{state}[SEP]',
      'oi.markers.positions': undefined,
    },
  ],
  [
    'a cosine alone, of the states as they are',
    { [`${head}inputs`]: undefined, [`${head}cosine.weight`]: undefined },
  ],
  [
    'layers alone, of every kind of input',
    {
      [`${head}cosine.scale`]: undefined,
      [`${head}inputs`]: ['option', 'marker*first', '|state-question|'],
    },
  ],
]

for (const [name, changes] of variants) testLogits(name, changes)

t.test('with Q8_0 weights, exact matmuls give what double precision gives', async (t) => {
  const path = join(t.testdir(), 'exact.gguf')
  const file = readGguf(await fixturePath('encoder', { type: 'Q8_0' }))
  const request = mixedRequest(120)
  const errors = []
  for (const exact of [undefined, true]) {
    writeGguf(path, file, { 'oi.exact_matmuls': exact })
    const engine = await openEngine({ modelPath: path, threads: 2 })
    const actual = await markerLogits(engine, request)
    const expected = await expectedLogits(engine, request, new EncoderReference(path))
    errors.push(relativeError(actual.flat(), expected.flat()))
    const { kernels } = engine.info
    await engine.close()
    if (kernels === '') return t.ok(true, 'exact matmuls', { skip: 'no kernels on this CPU' })
    t.equal(kernels.endsWith(', exact matmuls'), exact === true)
  }
  const [rounded, exact] = errors
  t.ok(exact! < 1e-4 && exact! < rounded! / 20, `${exact}, else ${rounded}`)
})

t.test('numbers of a head may be the bits of half precision', async (t) => {
  const key = `${head}hidden.weight`
  const { length } = readGguf(await fixturePath('encoder')).meta.get(key) as Float32Array
  // From 2^-7 to 2^-5, every second one below zero.
  const bits = Uint16Array.from(
    { length },
    (_, i) => 0x2000 + ((i * 7919) % 0x800) + 0x8000 * (i % 2),
  )
  const found = []
  for (const value of [bits, Float32Array.from(bits, half)]) {
    const ask = (engine: Engine) => markerLogits(engine, mixedRequest(9))
    found.push(await withMarkers(t.testdir(), { [key]: value }, ask))
  }
  t.strictSame(found[0], found[1])
})

/** The same request alone, beside others, and among other questions. */
async function rounds(engine: Engine): Promise<number[][][]> {
  const request = mixedRequest(60)
  const alone = await markerLogits(engine, request)
  const others = Array.from({ length: 6 }, (_, i) => markerLogits(engine, mixedRequest(5 + 17 * i)))
  const [beside, again] = await Promise.all([
    markerLogits(engine, request),
    markerLogits(engine, request),
    ...others,
  ])
  const { questions } = mixedRequest(60)
  const turned = Object.fromEntries(Object.entries(questions).reverse())
  const reversed = await markerLogits(engine, { ...request, questions: turned })
  return [alone, beside, again, reversed.toReversed()]
}

for (const deterministic of [false, true]) {
  t.test(`answers do not depend on other requests${deterministic ? ', in every bit' : ''}`, (t) =>
    withMarkers(
      t.testdir(),
      {},
      async (engine) => {
        const [alone, ...company] = await rounds(engine)
        for (const logits of company) {
          if (deterministic) t.strictSame(logits, alone)
          else t.ok(relativeError(logits.flat(), alone!.flat()) < 1e-4)
        }
      },
      { deterministic },
    ),
  )
}

const choice = (options: readonly string[]): DecideRequest => ({
  state: 'the one that is meant',
  questions: {
    q: { type: 'choice', criteria: Object.fromEntries(options.map((name) => [name, null])) },
  },
})

t.test('with parallel positions, options may be in any order', (t) =>
  withMarkers(t.testdir(), {}, async (engine) => {
    const names = ['a red river', 'stones', 'the letter of a cloud', 'gardens in rain']
    const [given] = await markerLogits(engine, choice(names))
    const [turned] = await markerLogits(engine, choice(names.toReversed()))
    t.ok(relativeError(turned!.toReversed(), given!) < 1e-4)
    t.ok(new Set(given!.map((logit) => logit.toFixed(3))).size === 4, 'they differ')
  }),
)

t.test('no place of 255 options is better than another, in any pass', (t) =>
  withMarkers(t.testdir(), { 'oi.markers.pass_options': 51 }, async (engine) => {
    const places = Array.from({ length: 255 }, (_, place) => place)
    const input = await renderedBy(engine, { state: 'the one that is meant', questions: {} })
    const one = await renderedBy(engine, choice(['garden', 'x']))
    const { parts } = one.suffixes[0]!
    const [marker, meant, , , behind] = parts.slice(-5)
    const other = { text: 'paper', trusted: false }
    // Names of a choice are unique: this asks the engine itself.
    const suffixes = places.map((place) => ({
      parts: [
        ...parts.slice(0, -5),
        ...places.flatMap((i) => [marker!, i === place ? meant! : other]),
        behind!,
      ],
      candidates: new Int32Array(255),
    }))
    const { logits } = await engine.score({ prefix: input.prefix, suffixes })
    const shares = places.map((place) => {
      const own = logits.subarray(256 * place, 256 * place + 255)
      return Math.exp(own[place]! - logits[256 * place + 255]!)
    })
    t.ok(Math.max(...shares) / Math.min(...shares) < 1 + 1e-4, `${Math.min(...shares)}`)
    t.ok(Math.abs(shares[0]! * 255 - 1) > 0.01, 'it is not like the others')
  }),
)

t.test(
  '255 options of five words are answered, in several passes if one cannot hold them',
  async (t) => {
    const names = Array.from({ length: 255 }, (_, i) => `${i} ${text(4)}`)
    const whole = await withMarkers(t.testdir(), {}, async (engine) => {
      await markerLogits(engine, choice(names))
      const { evaluatedTokens } = engine.stats()
      t.ok(evaluatedTokens > 1500 && evaluatedTokens < 2048, `${evaluatedTokens} in one pass`)
      return evaluatedTokens
    })
    await withMarkers(t.testdir(), { 'oi.markers.positions': 'sequential' }, async (engine) => {
      const [logits] = await markerLogits(engine, choice(names))
      t.equal(logits!.length, 255)
      t.ok(logits!.every(Number.isFinite))
      t.ok(engine.stats().evaluatedTokens > whole, 'the question is read more than once')
    })
  },
)

t.test('the state is evaluated in every pass, and counted once', (t) =>
  withMarkers(t.testdir(), {}, async (engine) => {
    const input = await renderedBy(engine, mixedRequest(50))
    const output = await engine.score(input)
    const counts = await Promise.all(
      [input.prefix, ...input.suffixes.map(({ parts }) => parts)].map(async (parts) =>
        (await engine.tokenize(parts)).reduce((sum, { length }) => sum + length, 0),
      ),
    )
    const [state, ...questions] = counts
    const all = questions.reduce((sum, own) => sum + own + state!, 0)
    const once = questions.reduce((sum, own) => sum + own, 0)
    t.equal(output.prefixTokens, state)
    t.equal(output.suffixTokens, once)
    t.equal(output.cachedTokens, 0)
    t.equal(output.evaluatedTokens, all)
    t.equal(engine.stats().evaluatedTokens, all)
    t.equal(engine.stats().steps, 1, 'four questions in one batch')
    t.equal(engine.stats().promptTokens, state! + once)
  }),
)

t.test('a state over the limit is refused with the numbers', (t) =>
  withMarkers(t.testdir(), {}, async (engine) => {
    const long = {
      code: 'ERR_STATE_TOO_LONG',
      message: /take \d{3} tokens \(\d{3} and \d+\), the limit is 512$/,
    }
    await t.rejects(markerLogits(engine, mixedRequest(520)), long)
    t.equal((await markerLogits(engine, mixedRequest(440))).length, 4)
  }),
)

t.test('a cancelled or expired request ends, and others are answered', (t) =>
  withMarkers(t.testdir(), {}, async (engine) => {
    const names = Array.from({ length: 255 }, (_, i) => `${i} ${text(5)}`)
    const { questions } = choice(names)
    const many = {
      state: text(300),
      questions: Object.fromEntries(
        Array.from({ length: 100 }, (_, i) => [`q${i}`, questions['q']!]),
      ),
    }
    const input = await renderedBy(engine, many)
    const controller = new AbortController()
    const cancelled = outcomeOf(engine.score(input, { signal: controller.signal }))
    const late = outcomeOf(engine.score(input, { deadlineMs: 20 }))
    const answered = markerLogits(engine, mixedRequest(30))
    t.equal((await answered).length, 4)
    controller.abort()
    t.equal(await cancelled, 'ERR_ABORTED')
    t.equal(await late, 'ERR_TIMEOUT')
    t.equal(engine.stats().queuedRequests, 0)
  }),
)

const faults: [string, Record<string, MetaValue | undefined>, RegExp][] = [
  ['no template', { 'oi.markers.template': undefined }, /oi\.markers\.template: expected {state}/],
  [
    'a state in the middle',
    { 'oi.markers.template': '[CLS]{question}{state}{options}' },
    /oi\.markers\.template: expected {state} first or last/,
  ],
  ['a marker that is text', { 'oi.markers.marker': 'mask' }, /oi\.markers\.marker: .* got mask/],
  ['other positions', { 'oi.markers.positions': 'round' }, /oi\.markers\.positions: .* got round/],
  ['an unknown input', { [`${head}inputs`]: ['marker*mark'] }, /head\.inputs: .* got marker\*mark/],
  ['a short matrix', { [`${head}hidden.weight`]: new Float32Array(5) }, /hidden\.weight: expected/],
  ['no bias', { [`${head}output.bias`]: undefined }, /head\.output\.bias: expected/],
  [
    'no head at all',
    { [`${head}inputs`]: undefined, [`${head}cosine.scale`]: undefined },
    /head\.inputs: expected these or cosine\.scale/,
  ],
  ['another readout', { 'oi.readout': 'markers@9' }, /no head of markers@1/],
  ['no readout', { 'oi.readout': undefined }, /no head of markers@1/],
]

for (const [name, changes, message] of faults) testFault(name, changes, message)
