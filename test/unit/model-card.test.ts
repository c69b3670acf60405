/** Names of models. */
import t from 'tap'
import { createModelCard, hasRandomWeights } from '../../src/decide/model-card.js'
import { createReadout } from '../../src/prompt/readout.js'
import { createFakeEngine } from '../helpers/fake-engine.js'

for (const [fileName, metadata, name] of [
  ['Qwen3-0.6B-Q8_0.gguf', { 'general.name': 'Qwen3' }, 'Qwen3-0.6B-Q8_0'],
  ['big-00001-of-00003.gguf', {}, 'big'],
  ['a b.GGUF', {}, 'a-b'],
  ['.gguf', { 'general.name': 'Some Model' }, 'Some-Model'],
  [
    'fixture-dense-F32-0123abcd.gguf',
    { 'general.name': 'fixture-dense (random weights)', 'oi.random_weights': 'true' },
    'fixture-dense',
  ],
  ['made.gguf', { 'oi.random_weights': 'true' }, 'made'],
] as const) {
  t.test(`${fileName} is called ${name}`, async (t) => {
    const engine = createFakeEngine({ info: { metadata } })
    const facts = { fileName, digest: 'sha256:', releaseDate: '2025-01-02' }
    const card = createModelCard(engine.info, await createReadout(engine), facts)
    t.equal(card.name, name)
    t.equal(hasRandomWeights(engine.info), 'oi.random_weights' in metadata)
    t.equal(/answers mean nothing/.test(card.description), hasRandomWeights(engine.info))
  })
}
