/** Labels in `oi models inspect`, without a model. */
import t from 'tap'
import { inspectionText } from '../../src/cli/models/inspection-text.js'
import { inspectModel } from '../../src/models/inspect.js'
import { createFakeEngine } from '../helpers/fake-engine.js'

t.test('a model without codes has no row for them', async (t) => {
  const { inspection } = await inspectModel('rich.gguf', createFakeEngine())
  t.strictSame(inspection.readout?.codes, [])
  const text = inspectionText(inspection)
  t.match(text, /^labels +255: A B C D E F G H I J K L … [A-Z]{2}$/m)
  t.notMatch(text, /^codes/m)
})

t.test('a model with codes shows them, and how few labels it has', async (t) => {
  const engine = createFakeEngine({ isWord: (word) => word.length < 2 })
  const known = await engine.tokenize([...'ABC'].map((text) => ({ text, trusted: true })))
  engine.areOrdinary = (ids) => Array.from(ids, (id) => known.some(([own]) => own === id))
  const { inspection } = await inspectModel('poor.gguf', engine)
  const text = inspectionText(inspection)
  t.match(text, /^readout +letters@1\+trie$/m)
  t.match(text, /^labels +3: A B C$/m)
  t.match(text, /^codes +\d+: A{2,} /m)
  t.match(text, new RegExp(`^limits +${inspection.readout!.codes.length} options or levels`, 'm'))
})
