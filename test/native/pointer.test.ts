/**
 * `pointer@1`: a decoder answers with its hidden states, by the rules of
 * src/prompt/hidden/README.md.
 *
 * Needs the built addon and the `small` fixture, which gets a head of random numbers here. Expected
 * values are computed in double precision from the same weights; bound 1e-3 relative.
 */
import t from 'tap'
import { DecoderReference } from '../helpers/decoder-reference.js'
import { openEngine } from '../helpers/fixture.js'
import type { MetaValue } from '../helpers/gguf-file.js'
import { expectedLogits, markerLogits, markersModel, mixedRequest } from '../helpers/markers.js'
import { withMarkers } from '../helpers/markers.js'
import { head, pointerKeys as pointer } from '../helpers/pointer.js'
import { relativeError } from '../helpers/reference.js'

const variants: [string, Readonly<Record<string, MetaValue | undefined>>][] = [
  ['state first', {}],
  [
    'state last',
    { 'oi.pointer.template': '<|im_start|>{question}{options}<|im_start|>{state}<|im_end|>' },
  ],
]

for (const [name, changes] of variants) {
  t.test(`logits equal those of double precision: ${name}`, (t) =>
    withMarkers(
      t.testdir(),
      { ...pointer, ...changes },
      async (engine, path) => {
        const reference = new DecoderReference(path)
        // The longest passes are split into several batches.
        for (const words of [3, 40, 150]) {
          const request = mixedRequest(words)
          const actual = await markerLogits(engine, request)
          const expected = await expectedLogits(engine, request, reference)
          const error = relativeError(actual.flat(), expected.flat())
          t.ok(error < 1e-3, `${words} words: ${error}`)
        }
      },
      {},
      'small',
    ),
  )
}

t.test('answers do not depend on other requests', (t) =>
  withMarkers(
    t.testdir(),
    pointer,
    async (engine) => {
      const request = mixedRequest(60)
      const alone = await markerLogits(engine, request)
      const [beside] = await Promise.all([
        markerLogits(engine, request),
        ...[5, 30, 90].map((words) => markerLogits(engine, mixedRequest(words))),
      ])
      t.ok(relativeError(beside.flat(), alone.flat()) < 1e-3)
    },
    {},
    'small',
  ),
)

const faults: [string, Readonly<Record<string, MetaValue | undefined>>, RegExp][] = [
  ['no scale', { [`${head}scale`]: undefined }, /oi\.pointer\.head\.scale: expected/],
  ['a short key', { [`${head}key.bias`]: new Float32Array(3) }, /key\.bias: expected 24 .* got 3/],
  ['positions', { 'oi.pointer.positions': 'parallel' }, /oi\.pointer\.positions: expected none/],
  ['a text alone', { 'oi.pointer.alone': '<s>{text}' }, /oi\.pointer\.alone: expected none/],
  ['a readout of encoders', { 'oi.readout': 'markers@1' }, /markers@1 is for encoders.* qwen3/],
]

for (const [name, changes, message] of faults) {
  t.test(`a file with ${name} is refused by name`, async (t) => {
    const modelPath = await markersModel(t.testdir(), { ...pointer, ...changes }, 'small')
    await t.rejects(openEngine({ modelPath, metadataOnly: true }), {
      code: 'ERR_MODEL_UNSUPPORTED',
      message,
    })
  })
}
