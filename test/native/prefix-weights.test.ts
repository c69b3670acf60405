/**
 * `prefix@1` with weights as the default model has them: exact matmuls, and a head in half
 * precision. Needs the built addon; the fixture is made on first use.
 */
import t from 'tap'
import { fixturePath } from '../helpers/fixture.js'
import { readGguf } from '../helpers/gguf-file.js'
import { mixedRequest, optionLogits, withModelFile } from '../helpers/hidden.js'
import { expectedPrefixLogits, prefixModel } from '../helpers/prefix.js'
import { relativeError } from '../helpers/reference.js'
import { half } from '../helpers/vectors.js'

t.test('with Q8_0 weights, exact matmuls give what double precision gives', async (t) => {
  const request = mixedRequest(120)
  const errors = []
  for (const exact of [undefined, true]) {
    const path = await prefixModel(t.testdir(), { 'oi.exact_matmuls': exact }, 'Q8_0')
    const [error, kernels] = await withModelFile(path, { cacheType: 'f32' }, async (engine) => {
      const actual = await optionLogits(engine, request)
      const expected = await expectedPrefixLogits(engine, request, path)
      return [relativeError(actual.flat(), expected.flat()), engine.info.kernels] as const
    })
    errors.push(error)
    if (kernels === '') return t.ok(true, 'exact matmuls', { skip: 'no kernels on this CPU' })
    t.equal(kernels.includes(', exact matmuls'), exact === true)
  }
  const [rounded, exact] = errors
  t.ok(exact! < 1e-4 && exact! < rounded! / 20, `${exact}, else ${rounded}`)
})

t.test('numbers of a head may be the bits of half precision', async (t) => {
  const key = 'oi.prefix.head.hidden.weight'
  const { length } = readGguf(await fixturePath('prefix')).meta.get(key) as Float32Array
  // From 2^-7 to 2^-5, every second one below zero.
  const bits = Uint16Array.from(
    { length },
    (_, i) => 0x2000 + ((i * 7919) % 0x800) + 0x8000 * (i % 2),
  )
  const found = []
  for (const value of [bits, Float32Array.from(bits, half)]) {
    const path = await prefixModel(t.testdir(), { [key]: value })
    found.push(await withModelFile(path, {}, (engine) => optionLogits(engine, mixedRequest(9))))
  }
  t.strictSame(found[0], found[1])
})
