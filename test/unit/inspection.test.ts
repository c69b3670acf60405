/** Labels in `oi models inspect`, without a model. */
import t from 'tap'
import { inspectionText } from '../../src/cli/models/inspection-text.js'
import { inspectModel } from '../../src/models/inspect.js'
import { createFakeEngine, engineOfLabels } from '../helpers/fake-engine.js'

t.test('as many options as labels are possible', async (t) => {
  const { inspection } = await inspectModel('rich.gguf', createFakeEngine())
  const text = inspectionText(inspection)
  t.match(text, /^labels +255: A B C D E F G H I J K L … [A-Z]{2}$/m)
  t.match(text, /^limits +255 options or levels/m)
})

t.test('a model with few labels says so', async (t) => {
  const { inspection } = await inspectModel('poor.gguf', await engineOfLabels('ABC'))
  const text = inspectionText(inspection)
  t.match(text, /^readout +letters@1$/m)
  t.match(text, /^labels +3: A B C$/m)
  t.match(text, /^limits +3 options or levels/m)
})
