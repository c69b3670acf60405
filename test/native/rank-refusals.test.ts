/**
 * Files and questions that `rank@1` refuses by name. Needs the built addon and fixtures.
 */
import t from 'tap'
import type { DecideRequest } from '../../src/decide/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import { type FixtureName } from '../helpers/fixture.js'
import { type Changes, pooledModel, withPooled } from '../helpers/pooled.js'
import { refusesModel } from '../helpers/hidden.js'

const faults: [string, FixtureName, Changes, RegExp][] = [
  [
    'no head',
    'reranker',
    { without: ['cls.weight', 'cls.bias', 'cls.output.weight', 'cls.output.bias'] },
    /cls\.output\.weight: no such tensor/,
  ],
  [
    'a decoder without a head',
    'qwen3-reranker',
    { without: ['cls.output.weight'] },
    /cls\.output\.weight: no such tensor/,
  ],
  [
    'a head of another width',
    'reranker',
    { without: ['cls.output.weight', 'cls.output.bias'] },
    /cls\.weight: expected 1 rows, .* got 64/,
  ],
  [
    'attention in both directions',
    'qwen3-reranker',
    { meta: { 'qwen3.attention.causal': false } },
    /qwen3\.attention\.causal: expected true/,
  ],
  [
    'labels of a classifier',
    'classifier',
    { meta: { 'oi.readout': 'rank@1' } },
    /output_labels: rank@1 is for one output, .* not for \["anger","Fear"/,
  ],
]

for (const [name, fixture, changes, message] of faults) {
  t.test(`a file with ${name} is refused by name`, async (t) => {
    const modelPath = await pooledModel(t.testdir(), fixture, changes)
    await refusesModel(t, modelPath, message)
  })
}

t.test('a template without both places, and a noul that asks nothing, are refused', (t) =>
  withPooled(
    t.testdir(),
    'reranker',
    { meta: { 'oi.rank.template': '{query}' } },
    {},
    async (engine) => {
      await t.rejects(createReadout(engine), {
        code: 'ERR_READOUT',
        message: /^oi\.rank\.template: expected {document} once$/,
      })
      await withPooled(t.testdir(), 'reranker', {}, {}, async (other) => {
        const readout = await createReadout(other)
        const asked: DecideRequest = { state: 'S', questions: { q: { type: 'noul' } } }
        t.throws(() => readout.render(asked), {
          code: 'ERR_REQUEST_UNACCEPTABLE',
          param: 'questions.q.instructions',
        })
      })
    },
  ),
)
