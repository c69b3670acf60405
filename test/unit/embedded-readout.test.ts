/** A readout in a model's metadata. No model. */
import t from 'tap'
import { createReadout } from '../../src/prompt/readout.js'
import { parseReadout } from '../../src/prompt/custom/parse.js'
import { createFakeEngine } from '../helpers/fake-engine.js'

const readout = {
  name: 'tiny@1',
  template: '{{ state }}<|start|>{{ question }}<|end|>:',
  wording: { option: '{{ name }}{% if description %} {{ description }}{% endif %}={{ label }}' },
  labels: ['x', 'y', 'z'],
  temperature: 1.5,
}

const engineWith = (embedded: unknown) =>
  createFakeEngine({ info: { metadata: { 'oi.readout': JSON.stringify(embedded) } } })

t.test('a model is asked by the readout in its metadata', async (t) => {
  const own = await createReadout(engineWith(readout))
  t.equal(own.name, 'tiny@1')
  t.strictSame(own.labels, ['x', 'y', 'z'])
  t.equal(own.temperatures?.[0]?.temperature, 1.5)
})

t.test('an explicit readout wins over it', async (t) => {
  const content = parseReadout(JSON.stringify({ ...readout, name: 'given@1' }), String)
  const custom = { ...content, file: 'given.json', name: 'given@1' }
  t.equal((await createReadout(engineWith(readout), { custom })).name, 'given@1')
})

const bad: [string, unknown, RegExp][] = [
  ['without a name', { ...readout, name: undefined }, /^oi\.readout: name: expected a name$/],
  ['with a file', { name: 'x', templateFile: 'a.jinja' }, /^oi\.readout: .*no files/],
  ['with a label of two tokens', { ...readout, labels: ['x', 'not one'] }, /^oi\.readout: labels/],
  ['that is no object', [], /^oi\.readout: expected an object$/],
]

for (const [name, embedded, message] of bad) {
  t.test(`a readout ${name} is refused`, async (t) => {
    await t.rejects(createReadout(engineWith(embedded)), { code: 'ERR_READOUT', message })
  })
}
