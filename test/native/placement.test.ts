/**
 * The placement of a model that is on the CPU alone. GPUs: test/device.
 *
 * Needs the built addon and fixtures.
 */
import t from 'tap'
import { input, withEngine } from '../helpers/fixture.js'

t.test('an open model reports what is in RAM', (t) =>
  withEngine('dense', {}, async ({ info: { weightBytes, contextBytes, placement, notes } }) => {
    t.match(placement, [{ device: 'CPU', description: '', freeBytes: 0 }])
    const ram = placement[0]!
    t.ok(Math.abs(ram.weightBytes - weightBytes) <= 0.01 * weightBytes + 20_000)
    t.ok(ram.cellBytes >= 0.9 * contextBytes && ram.bufferBytes > 0)
    t.strictSame(notes, [])
  }),
)

t.test('a model opened for its metadata reports what would be', (t) =>
  withEngine(
    'dense',
    { metadataOnly: true },
    async ({ info: { weightBytes, contextBytes, placement } }) => {
      const ram = { device: 'CPU', layers: 3, weightBytes, cellBytes: contextBytes }
      t.match(placement, [ram])
    },
  ),
)

t.test('weights that must stay in RAM give the same answers', async (t) => {
  const request = input(20, 2)
  for (const kernels of ['auto', 'off'] as const) {
    const score = (mlock: boolean) =>
      withEngine(
        'small',
        {
          ...{ kernels, mlock, threads: 1 },
        },
        async (engine) => [...(await engine.score(request)).logits],
      )
    t.strictSame(await score(true), await score(false))
  }
})
