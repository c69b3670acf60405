/**
 * Our own CPU kernels.
 *
 * `oi-kernel-test`, which is built first, compares each kernel with double precision, with stock
 * llama.cpp and with itself at other widths and thread counts; it prints its checks.
 */
import t from 'tap'
import { join } from 'node:path'
import { buildNative } from '../../scripts/build/native.js'

const folder = await buildNative(new Set(), ['oi-kernel-test', 'oi-op-params'])
const tool = join(folder, 'oi-kernel-test')

t.test("llama.cpp keeps an operation's parameters where the kernels read them", async (t) => {
  t.spawn(join(folder, 'oi-op-params'), [])
})

t.test('every kernel is accurate enough, and has the same bits everywhere', async (t) => {
  // The set of this CPU, and the set of most CPUs. The others are built from the same sources: the
  // next test shows that they have the same bits.
  t.spawn(tool, [], { timeout: 600_000 }, 'its own')
  t.spawn(tool, ['--set', 'avx2'], { timeout: 600_000 }, 'avx2')
})

t.test('matmuls of quantized weights have the same bits with every instruction set', async (t) => {
  t.spawn(tool, ['sets'], { timeout: 600_000 })
})
