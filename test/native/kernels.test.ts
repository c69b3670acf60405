/**
 * Our own CPU kernels.
 *
 * `oi-kernel-test`, which is built first, compares each with double precision, with stock llama.cpp
 * and with itself at other widths and thread counts; it prints what it checks.
 */
import t from 'tap'
import { join } from 'node:path'
import { buildNative } from '../../scripts/build/native.js'

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
