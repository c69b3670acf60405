/**
 * `prefix@1`: an encoder that is read in parts answers by the rules of src/prompt/hidden/README.md.
 *
 * Needs the built addon; fixtures are made on first use. Expected values are computed in double
 * precision from the same weights.
 */
import t from 'tap'
import { join } from 'node:path'
import type { DecideRequest } from '../../src/decide/types.js'
import type { Engine } from '../../src/engine/types.js'
import { fixturePath, outcomeOf, text } from '../helpers/fixture.js'
import type { MetaValue } from '../helpers/gguf-file.js'
import {
  mixedRequest,
  optionLogits,
  refusesModel,
  renderedBy,
  withModelFile,
} from '../helpers/hidden.js'
import { poisonedWord } from '../helpers/poisoned.js'
import { expectedPrefixLogits, prefixModel } from '../helpers/prefix.js'
import { relativeError } from '../helpers/reference.js'

type Options = Parameters<typeof withModelFile>[1]

/** The weights, whether our kernels compute them, what is asked for, and the error that may be. */
const variants: [string, string, Options, number, Record<string, MetaValue | undefined>?][] = [
  ['F32, cells in F32', 'F32', { cacheType: 'f32' }, 1e-4],
  ['F32, cells in F16', 'F32', {}, 1e-3],
  ['F32, without our kernels', 'F32', { kernels: 'off', cacheType: 'f32' }, 1e-3],
  ['F16, cells in F32', 'F16', { cacheType: 'f32' }, 1e-3],
  ['Q8_0, exact matmuls', 'Q8_0', {}, 1e-3, { 'oi.exact_matmuls': true }],
  ['Q8_0', 'Q8_0', {}, 4e-2],
  ['levels apart', 'F32', { cacheType: 'f32' }, 1e-4, { 'oi.prefix.levels': 'apart' }],
  ['no token types', 'F16', {}, 1e-3, { 'oi.prefix.token_types': undefined }],
]

for (const [name, type, options, bound, changes] of variants) {
  t.test(`logits equal those of double precision: ${name}`, async (t) => {
    const path = await prefixModel(t.testdir(), changes, type)
    await withModelFile(path, options, async (engine) => {
      for (const words of [1, 9, 120]) {
        const request = mixedRequest(words)
        const actual = await optionLogits(engine, request)
        const expected = await expectedPrefixLogits(engine, request, path)
        const lengths = actual.map(({ length }) => length)
        t.same(lengths, [3, 2, 4, 2])
        const error = relativeError(actual.flat(), expected.flat())
        t.ok(error < bound, `${words} words: ${error}`)
      }
    })
  })
}

/** Fused on our kernels, where a request's bits depend on it alone. */
const fused = await fixturePath('prefix', { type: 'Q8_0' })
const hasKernels = await withModelFile(fused, {}, async ({ info }) => info.kernels !== '')
const skip = hasKernels ? false : 'no kernels on this CPU'

t.test('no bit depends on company, threads or what was cached', { skip }, async (t) => {
  const request = mixedRequest(70)
  const { questions } = request
  const turned = Object.fromEntries(Object.entries(questions).reverse())
  const asked = (engine: Engine) => optionLogits(engine, request)
  const alone = await withModelFile(fused, {}, asked)
  await withModelFile(fused, { threads: 3 }, async (engine) => {
    const others = Array.from({ length: 6 }, (_, i) =>
      optionLogits(engine, mixedRequest(5 + 31 * i)),
    )
    const beside = [asked(engine), asked(engine)]
    t.strictSame(await Promise.all(beside), [alone, alone], 'beside others')
    await Promise.all(others)
    t.strictSame(await asked(engine), alone, 'from the context')
    const reversed = await optionLogits(engine, { ...request, questions: turned })
    t.strictSame(reversed.toReversed(), alone, 'questions in another order')
  })
  for (const microbatchTokens of [64, 96, 4096]) {
    const found = await withModelFile(fused, { microbatchTokens }, asked)
    t.strictSame(found, alone, `steps of ${microbatchTokens} tokens`)
  }
})

t.test('the same state from RAM and from disk has the same bits', async (t) => {
  const request = mixedRequest(1200)
  const ask = async (engine: Engine) => {
    const { logits, cachedTokens, prefixTokens } = await engine.score(
      await renderedBy(engine, request),
    )
    return { logits: [...logits], cached: cachedTokens === prefixTokens }
  }
  // Cells for one state. Our kernels evaluate this fixture faster than a disk is read.
  const options = {
    contextTokens: 1600,
    diskCacheDir: join(t.testdir(), 'states'),
    kernels: 'off',
    deterministic: true,
  } as const
  const first = await withModelFile(fused, options, async (engine) => {
    const cold = await ask(engine)
    t.equal(cold.cached, false)
    await optionLogits(engine, { ...request, state: text(1250) })
    t.strictSame(await ask(engine), { ...cold, cached: true }, 'from RAM')
    t.equal(engine.stats().hostHits, 1)
    return cold
  })
  await withModelFile(fused, options, async (engine) => {
    t.strictSame(await ask(engine), { ...first, cached: true }, 'from disk')
    t.equal(engine.stats().diskHits, 1)
  })
  await withModelFile(fused, options, async (engine) => {
    const found = await Promise.all(
      ['a', 'b'].map(async (scope) => engine.score(await renderedBy(engine, request), { scope })),
    )
    t.strictSame(
      found.map(({ cachedTokens }) => cachedTokens),
      [0, 0],
      'to others it is new',
    )
  })
})

t.test('a state is evaluated once, for all questions of all requests', async (t) =>
  withModelFile(fused, {}, async (engine) => {
    const many = (from: number): DecideRequest => ({
      state: text(300),
      questions: Object.fromEntries(
        Array.from({ length: 32 }, (_, i) => [
          `q${i}`,
          { type: 'noul' as const, instructions: `Is it number ${from + i}?` },
        ]),
      ),
    })
    const inputs = await Promise.all([many(0), many(100)].map((one) => renderedBy(engine, one)))
    const [one, two] = await Promise.all(inputs.map((input) => engine.score(input)))
    const state = one!.prefixTokens
    t.ok(state >= 300)
    const asked = one!.suffixTokens + two!.suffixTokens
    t.equal(engine.stats().evaluatedTokens, state + asked)
    t.equal(one!.cachedTokens + two!.cachedTokens, state, 'one of them shares it')
    t.equal(one!.evaluatedTokens + two!.evaluatedTokens, state + asked)
    const again = await engine.score(inputs[0]!)
    t.equal(again.cachedTokens, state)
    t.equal(again.evaluatedTokens, again.suffixTokens)
    t.strictSame(again.logits, one!.logits)
    t.equal(engine.stats().deviceHits >= 1, true)
  }),
)

const choice = (names: readonly string[]): DecideRequest => ({
  state: 'the one that is meant',
  questions: {
    q: { type: 'choice', criteria: Object.fromEntries(names.map((name) => [name, null])) },
  },
})

t.test("255 options are answered, and none changes another's logit", { skip }, async (t) =>
  withModelFile(fused, {}, async (engine) => {
    const names = Array.from({ length: 255 }, (_, i) => `${i} ${text(4)}`)
    const [all] = await optionLogits(engine, choice(names))
    t.equal(all!.length, 255)
    t.ok(engine.stats().steps > 1, 'in several steps')
    const some = [200, 3, 77]
    const [few] = await optionLogits(engine, choice(some.map((i) => names[i]!)))
    t.strictSame(
      few,
      some.map((i) => all![i]),
    )
  }),
)

t.test('what does not fit is refused with the numbers', async (t) =>
  withModelFile(fused, { contextTokens: 512 }, async (engine) => {
    await t.rejects(optionLogits(engine, mixedRequest(600)), {
      code: 'ERR_STATE_TOO_LONG',
      message:
        /^state and question with its longest option take \d+ tokens \(the state \d+\), the limit is 512$/,
    })
    t.equal((await optionLogits(engine, mixedRequest(300))).length, 4)
  }),
)

t.test('a request that is given up ends, and others go on', async (t) =>
  withModelFile(fused, {}, async (engine) => {
    const stop = new AbortController()
    const long = engine.score(await renderedBy(engine, mixedRequest(1500)), { signal: stop.signal })
    const short = optionLogits(engine, mixedRequest(20))
    stop.abort()
    t.equal(await outcomeOf(long), 'ERR_ABORTED')
    t.equal((await short).length, 4)
    t.equal((await optionLogits(engine, mixedRequest(30))).length, 4)
  }),
)

for (const kernels of ['auto', 'off'] as const) {
  t.test(`what is not finite fails alone, kernels ${kernels}`, async (t) => {
    const word = 'zebra'
    const path = join(t.testdir(), 'spoilt.gguf')
    await poisonedWord(await fixturePath('prefix'), path, word)
    await withModelFile(path, { kernels }, async (engine) => {
      const good = await optionLogits(engine, mixedRequest(25))
      const spoilt = { ...mixedRequest(40), state: `A ${word} is here.` }
      const found = await Promise.all([
        outcomeOf(optionLogits(engine, spoilt)),
        outcomeOf(optionLogits(engine, mixedRequest(31))),
        outcomeOf(optionLogits(engine, spoilt)),
      ])
      t.strictSame(found, ['ERR_ENGINE_INTERNAL', 'answered', 'ERR_ENGINE_INTERNAL'])
      const again = await optionLogits(engine, mixedRequest(25))
      t.ok(relativeError(again.flat(), good.flat()) < 1e-4)
    })
  })
}

t.test('deterministic, llama.cpp’s kernels give the same bits in any company', async (t) =>
  withModelFile(
    await fixturePath('prefix'),
    { kernels: 'off', deterministic: true },
    async (engine) => {
      const request = mixedRequest(60)
      const alone = await optionLogits(engine, request)
      const company = await Promise.all([
        optionLogits(engine, mixedRequest(11)),
        optionLogits(engine, request),
        optionLogits(engine, mixedRequest(90)),
      ])
      t.strictSame(company[1], alone)
    },
  ),
)

const faults: [string, Record<string, MetaValue | undefined>, RegExp][] = [
  ['no output', { 'oi.prefix.head.output.weight': undefined }, /output\.weight: expected an array/],
  [
    'a short bias',
    { 'oi.prefix.head.output.bias': new Float32Array(2) },
    /output\.bias: expected 3/,
  ],
  [
    'levels of another kind',
    { 'oi.prefix.levels': 'beside' },
    /levels: expected together or apart/,
  ],
  ['two token types', { 'oi.prefix.token_types': new Uint32Array(2) }, /expected an array of 3/],
  [
    'a readout of an older version',
    { 'oi.readout': 'markers@1' },
    /oi\.readout: markers@1 is none that this version of oi reads/,
  ],
  ['an unknown type', { 'oi.prefix.token_types': Uint32Array.of(0, 1, 2) }, /below 2, got 2/],
]
for (const [name, changes, message] of faults) {
  t.test(`a file with ${name} is refused by name`, async (t) => {
    const modelPath = await prefixModel(t.testdir(), changes)
    await refusesModel(t, modelPath, message)
  })
}
