/**
 * A GPU gives the CPU's answers, with all layers on it and with some, and its memory is planned.
 *
 * Needs an addon for an existing GPU: run by `npm run test:device`, not with the other tests.
 * Tolerance: 1e-3, relative to the largest candidate logit, F32 weights.
 */
import t from 'tap'
import type { EngineOptions } from '../../src/engine/engine.js'
import type { Engine, ScoreOutput } from '../../src/engine/types.js'
import { type FixtureName, fixturePath, input, unique, whileOpen } from '../helpers/fixture.js'
import { relativeError } from '../helpers/reference.js'

const fixtures: readonly FixtureName[] = ['small', 'dense', 'hybrid', 'window', 'experts', 'oss']
/** Four small layers. `dense` has a head of 155 MB, too large for a buffer of llvmpipe. */
const planned: FixtureName = 'window'
const sizes = { contextTokens: 1024, batchTokens: 256, microbatchTokens: 256, maxForks: 8 }

const withModel = async <T>(
  name: FixtureName,
  options: Omit<EngineOptions, 'modelPath'>,
  use: (engine: Engine) => Promise<T> | T,
) => whileOpen({ modelPath: await fixturePath(name), ...sizes, ...options }, use)

const layersOnGpus = (engine: { info: { placement: readonly { layers: number }[] } }) =>
  engine.info.placement.slice(0, -1).reduce((sum, { layers }) => sum + layers, 0)

for (const name of fixtures) {
  t.test(`${name}: all layers on the device, and some, give the CPU's logits`, async (t) => {
    const request = input(150, 6)
    const expected = await withModel(name, { device: 'cpu' }, (engine) => engine.score(request))
    for (const gpuLayers of [-1, 2]) {
      await withModel(name, { gpuLayers }, async (engine) => {
        if (gpuLayers === 2) t.equal(layersOnGpus(engine), 2)
        else t.equal(engine.info.placement.at(-1)!.layers, 0)
        const cold = await engine.score(request)
        const error = relativeError(cold.logits, expected.logits)
        t.ok(error < 1e-3, `${gpuLayers} layers: ${error}`)
        const warm = await engine.score(request)
        t.ok(warm.cachedTokens > 0)
        t.ok(relativeError(warm.logits, cold.logits) < 1e-3)
      })
    }
  })
}

for (const gpuLayers of [-1, 2]) {
  t.test(`${gpuLayers} layers: full steps are submitted ahead, each answer is its own`, (t) =>
    withModel(planned, { gpuLayers, microbatchTokens: 128, batchTokens: 128 }, async (engine) => {
      const requests = Array.from({ length: 24 }, (_, i) => unique(i, 20 + 7 * (i % 5), 2))
      const alone: ScoreOutput[] = []
      for (const request of requests) alone.push(await engine.score(request))
      const answers = await Promise.all(
        requests.map(async ({ prefix, suffixes }) => {
          // Not cached, and of the same length.
          const answer = await engine.score({ prefix, suffixes }, { scope: 'another' })
          return answer.logits
        }),
      )
      const { stepsAhead, steps } = engine.stats()
      t.ok(stepsAhead > 4, `${stepsAhead} of ${steps} steps`)
      answers.forEach((logits, i) => t.ok(relativeError(logits, alone[i]!.logits) < 1e-3, `${i}`))
    }),
  )
}

t.test('the plan is what llama.cpp allocates', async (t) => {
  const plan = await withModel(planned, { metadataOnly: true }, ({ info }) => info.placement)
  const real = await withModel(planned, {}, ({ info }) => info.placement)
  t.equal(plan.length, real.length)
  plan.slice(0, -1).forEach((entry, i) => {
    t.equal(entry.layers, real[i]!.layers)
    for (const key of ['weightBytes', 'cellBytes', 'bufferBytes'] as const) {
      const apart = Math.abs(entry[key] - real[i]![key])
      t.ok(apart <= 0.03 * real[i]![key] + 65_536, `${key}: ${entry[key]}, ${real[i]![key]}`)
    }
  })
})

t.test('a context for which no memory suffices is refused before any is taken', async (t) => {
  const kibibytes = () => process.resourceUsage().maxRSS
  const before = kibibytes()
  for (const gpuLayers of [undefined, 1, 2]) {
    await t.rejects(
      withModel(planned, { gpuLayers, contextTokens: 2 ** 30, metadataOnly: true }, () => {}),
      { code: 'ERR_MODEL_MEMORY', message: /\d\d+\.\d GiB/ },
      `layers: ${gpuLayers}`,
    )
  }
  t.ok(kibibytes() - before < 1e6, `${kibibytes() - before} KiB`)
})

t.test('quantized weights that would fit in BF16 are said to be slower', async (t) => {
  const notes = async (type: string) =>
    whileOpen(
      { modelPath: await fixturePath(planned, { type }), ...sizes, metadataOnly: true },
      ({ info }) => info.notes.join('\n'),
    )
  t.match(await notes('Q8_0'), /^Q8_0 weights: in BF16 they would take .*MiB, fit too/)
  t.match(await notes('F16'), /^F16 weights: some GPUs/)
  t.equal(await notes('BF16'), '')
})

t.test('on a small device', async (t) => {
  t.teardown(() => delete process.env['OI_TEST_DEVICE_BYTES'])
  const { placement } = await withModel(planned, { metadataOnly: true }, ({ info }) => info)
  const gpu = placement[0]!
  const pretend = (bytes: number) => (process.env['OI_TEST_DEVICE_BYTES'] = String(bytes))

  await t.test('an unspecified context shrinks, and a note says so', async (t) => {
    pretend(gpu.weightBytes * 1.1 + 3 * gpu.cellBytes + gpu.bufferBytes)
    const options = { contextTokens: undefined, metadataOnly: true }
    const { contextTokens, notes } = await withModel(planned, options, ({ info }) => info)
    t.ok(contextTokens < 32_768, String(contextTokens))
    t.match(notes.join('\n'), /^a context of \d+ tokens, as \d+ do not fit: /m)
  })

  await t.test('with an explicit context, layers stay on the CPU', async (t) => {
    // A sixteenth stays free; of the rest, a layer takes less than is missing.
    const lacking = 3e6
    pretend((16 / 15) * (gpu.weightBytes + gpu.cellBytes + gpu.bufferBytes - lacking))
    await withModel(planned, {}, async (engine) => {
      const { notes } = engine.info
      t.ok(engine.info.placement.at(-1)!.layers > 0)
      t.match(notes.join('\n'), /^\d+ of \d+ layers are on GPUs, the others on the CPU: /m)
      t.equal((await engine.score(input(20, 2))).logits.length, 12)
    })
  })

  await t.test('an explicit demand that does not fit is refused with numbers', async (t) => {
    pretend(1_000_000)
    await t.rejects(
      withModel(planned, { gpuLayers: 2 }, () => {}),
      { code: 'ERR_MODEL_MEMORY', message: /weights \d.* of 1 MiB free/ },
    )
  })

  await t.test('a model of which nothing fits runs on the CPU, and a note says so', async (t) => {
    pretend(1_000_000)
    const { device, notes } = await withModel(planned, {}, ({ info }) => info)
    t.equal(device, 'CPU')
    t.match(notes.join('\n'), /no layer fits/)
  })
})
