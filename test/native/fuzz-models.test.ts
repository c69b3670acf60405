/**
 * Models with false headers: a short run of `npm run fuzz:models`.
 *
 * Needs the built addon and a fixture. A crash of this process fails the test by itself.
 */
import t from 'tap'
import { join } from 'node:path'
import { fuzzModels } from '../../scripts/fuzz-models/fuzz.js'
import { fixturePath } from '../helpers/fixture.js'

const name = 'a header that lies ends no process but the probe, which loads what can be'
t.test(name, { timeout: 120_000 }, async (t) => {
  const result = await fuzzModels({
    model: await fixturePath('small'),
    scratch: join(t.testdir({}), 'model.gguf'),
    seed: 1,
    mutations: 200,
    budgetMs: 60_000,
  })
  const { loaded, refused, aborted, wrong } = result
  t.same(wrong, [])
  t.ok(loaded > 0 && refused > 0, `loaded ${loaded}, refused ${refused}, ended a probe ${aborted}`)
})
