/**
 * Our own CPU kernels.
 *
 * `oi-kernel-test`, which is built first, compares each with double precision, with stock llama.cpp
 * and with itself at other widths and thread counts; it prints what it checks. Then a model whose weights they take, in
 * the engine.
 */
import t from 'tap'
import { join } from 'node:path'
import { buildNative } from '../../scripts/build/native.js'
import { fixturePath, input, openEngine } from '../helpers/fixture.js'
import { relativeError } from '../helpers/reference.js'

const folder = await buildNative(new Set(), ['oi-kernel-test', 'oi-op-params'])
const tool = join(folder, 'oi-kernel-test')

t.test('llama.cpp keeps what the kernels read of an operation where they read it', async (t) => {
  t.spawn(join(folder, 'oi-op-params'), [])
})

t.test('every kernel is exact enough, and gives the same bits everywhere', async (t) => {
  // That of this CPU, and the one that most CPUs have. The others are made of the same sources:
  // below, they give the same bits.
  t.spawn(tool, [], { timeout: 600_000 }, 'its own')
  t.spawn(tool, ['--set', 'avx2'], { timeout: 600_000 }, 'avx2')
})

t.test(
  'products of quantized weights have the same bits with every set of instructions',
  async (t) => {
    t.spawn(tool, ['sets'], { timeout: 600_000 })
  },
)

t.test('a Q8_0 model answers with kernels as without them', async (t) => {
  const modelPath = await fixturePath('small', { type: 'Q8_0' })
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
