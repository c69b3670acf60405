/**
 * The engine's logits are llama.cpp's own.
 *
 * Needs the built addon, oi-reference and the fixtures. Tolerance: 1e-3, relative to the
 * largest candidate logit of the vector, CPU, F32 weights (design: "Promises", 2 to 4).
 */
import t from 'tap'
import { join } from 'node:path'
import { readGguf, writeGguf } from '../helpers/gguf-file.js'
import { withModelFile } from '../helpers/hidden.js'
import { referenceLogits, relativeError } from '../helpers/reference.js'
import {
  candidates,
  fixturePath,
  input,
  openEngine,
  question,
  withEngine,
} from '../helpers/fixture.js'

/** Words of a state, and questions. llama.cpp's own evaluation is slow. */
const sizes = (name: string) =>
  [
    [3, 1],
    [200, 5],
    ...(['small', 'dense', 'hybrid'].includes(name) ? [[700, 21] as const] : []),
  ] as const
const width = candidates.length + 1

for (const name of ['small', 'dense', 'hybrid', 'window', 'experts', 'oss'] as const) {
  t.test(`${name}: shared and forked equals llama.cpp alone`, async (t) => {
    const path = await fixturePath(name)
    await withEngine(name, {}, async (engine) => {
      for (const [words, questions] of sizes(name)) {
        const request = input(words, questions, words)
        const { logits } = await engine.score(request)
        const expected = await referenceLogits(path, engine, request)
        const error = relativeError(logits, expected)
        t.ok(error < 1e-3, `${words} words, ${questions} questions: ${error}`)
      }
    })
  })

  t.test(`${name}: more questions than forks run in waves, with the same result`, async (t) => {
    const request = input(60, 23)
    const wide = await withEngine(name, { maxForks: 32 }, (engine) => engine.score(request))
    const narrow = await withEngine(name, { maxForks: 3 }, (engine) => engine.score(request))
    const error = relativeError(narrow.logits, wide.logits)
    t.ok(error < 1e-3, String(error))
  })

  t.test(`${name}: batches smaller than prefix and suffix change nothing`, async (t) => {
    const request = input(300, 6)
    const whole = await withEngine(name, {}, (engine) => engine.score(request))
    const parts = await withEngine(
      name,
      {
        batchTokens: 64,
        microbatchTokens: 64,
      },
      (engine) => engine.score(request),
    )
    const error = relativeError(parts.logits, whole.logits)
    t.ok(error < 1e-3, String(error))
  })
}

t.test('a question without candidates is counted and not evaluated', (t) =>
  withEngine('small', {}, async (engine) => {
    const request = input(20, 2)
    const silent = { ...question(9), candidates: new Int32Array() }
    const mixed = await engine.score({ ...request, suffixes: [silent, ...request.suffixes] })
    const plain = await engine.score(request)
    t.equal(mixed.logits.length, 2 * width)
    t.ok(relativeError(mixed.logits, plain.logits) < 1e-3)
    t.ok(mixed.suffixTokens > plain.suffixTokens)
    const none = await engine.score({ prefix: request.prefix, suffixes: [silent] })
    t.equal(none.logits.length, 0)
    t.equal(none.prefixTokens, plain.prefixTokens)
  }),
)

for (const type of ['Q8_0', 'Q4_1']) {
  t.test(`a ${type} model gives the same answers with and without kernels`, async (t) => {
    const modelPath = await fixturePath('small', { type })
    const answers = []
    for (const kernels of ['auto', 'off'] as const) {
      const engine = await openEngine({ modelPath, contextTokens: 4096, kernels })
      answers.push((await engine.score(input(200, 5))).logits)
      if (kernels === 'off') t.equal(engine.info.kernels, '')
      await engine.close()
    }
    // Both round activations to 8 bits, each in its own way.
    const error = relativeError(answers[0]!, answers[1]!)
    t.ok(error < 0.05, String(error))
  })
}

t.test('weights that have no kernel are named', async (t) => {
  const file = readGguf(await fixturePath('dense'))
  const tensors = [...file.tensors].map(([name, tensor]) => {
    const values = tensor.data.length / 4
    if (tensor.dims.length < 2) return [name, tensor] as const
    return [name, { ...tensor, type: 34, data: Buffer.alloc((values / 256) * 54) }] as const
  })
  const path = join(t.testdir({}), 'ternary.gguf')
  writeGguf(path, { ...file, tensors: new Map(tensors) }, {})
  await withModelFile(path, { kernels: 'auto' }, ({ info: { kernels } }) => {
    t.match(kernels, kernels === '' ? '' : /, 100 % of the weights \(tq1_0\) without$/)
    return Promise.resolve()
  })
})
