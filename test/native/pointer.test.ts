/**
 * `pointer@1`: a decoder answers with its hidden states, by the rules of
 * src/prompt/hidden/README.md.
 *
 * Needs the built addon and the `small` fixture, which gets a head of random numbers here. Expected
 * values are computed in double precision from the same weights; bound 1e-3 relative.
 */
import t from 'tap'
import {
  changedFixture,
  type Changes,
  mixedRequest,
  optionLogits,
  refusesModel,
  withModelFile,
} from '../helpers/hidden.js'
import { expectedPointerLogits, head, pointerKeys } from '../helpers/pointer.js'
import { relativeError } from '../helpers/reference.js'

const pointerModel = (folder: string, changes: Changes = {}) =>
  changedFixture(folder, 'small', { ...pointerKeys, ...changes })

const variants: [string, Changes][] = [
  ['state first', {}],
  [
    'state last',
    { 'oi.pointer.template': '<|im_start|>{question}{options}<|im_start|>{state}<|im_end|>' },
  ],
]

for (const [name, changes] of variants) {
  t.test(`logits equal those of double precision: ${name}`, async (t) => {
    const modelPath = await pointerModel(t.testdir(), changes)
    await withModelFile(modelPath, {}, async (engine) => {
      // The longest passes are split into several batches.
      for (const words of [3, 40, 150]) {
        const request = mixedRequest(words)
        const actual = await optionLogits(engine, request)
        const expected = await expectedPointerLogits(engine, request, modelPath)
        const error = relativeError(actual.flat(), expected.flat())
        t.ok(error < 1e-3, `${words} words: ${error}`)
      }
    })
  })
}

t.test('answers do not depend on other requests', async (t) => {
  await withModelFile(await pointerModel(t.testdir()), {}, async (engine) => {
    const request = mixedRequest(60)
    const alone = await optionLogits(engine, request)
    const [beside] = await Promise.all([
      optionLogits(engine, request),
      ...[5, 30, 90].map((words) => optionLogits(engine, mixedRequest(words))),
    ])
    t.ok(relativeError(beside.flat(), alone.flat()) < 1e-3)
  })
})

t.test('more options than a pass may hold are asked in several', async (t) => {
  const found = []
  for (const most of [undefined, 2]) {
    const changes = { 'oi.pointer.pass_options': most }
    const modelPath = await pointerModel(t.testdir(), changes)
    found.push(
      await withModelFile(modelPath, {}, async (engine) => {
        const [team] = await optionLogits(engine, mixedRequest(9))
        return { team: team!.length, tokens: engine.stats().evaluatedTokens }
      }),
    )
  }
  t.equal(found[1]!.team, found[0]!.team)
  t.ok(found[1]!.tokens > found[0]!.tokens, 'state and question are read again')
})

const faults: [string, Changes, RegExp][] = [
  ['no scale', { [`${head}scale`]: undefined }, /oi\.pointer\.head\.scale: expected/],
  ['a short key', { [`${head}key.bias`]: new Float32Array(3) }, /key\.bias: expected 24 .* got 3/],
  ['no template', { 'oi.pointer.template': undefined }, /pointer\.template: expected {state} once/],
  [
    'a state in the middle',
    { 'oi.pointer.template': '{question}{state}{options}' },
    /pointer\.template: expected {state} first or last/,
  ],
  ['a marker that is text', { 'oi.pointer.marker': 'mask' }, /oi\.pointer\.marker: .* got mask/],
]

for (const [name, changes, message] of faults) {
  t.test(`a file with ${name} is refused by name`, async (t) => {
    const modelPath = await pointerModel(t.testdir(), changes)
    await refusesModel(t, modelPath, message)
  })
}

t.test('it is for decoders: an encoder with this readout is refused by name', async (t) => {
  const modelPath = await changedFixture(t.testdir(), 'prefix', { 'oi.readout': 'pointer@1' })
  const message = /oi\.readout: pointer@1 is for decoders, as qwen3, not for bert/
  await refusesModel(t, modelPath, message)
})
