/** The link to the default model. */
import t from 'tap'
import { realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { linkModel } from '../../scripts/default-model.js'
import { defaultModelLink, defaultModelPath } from '../../src/models/default-model.js'

t.test('the default model is the file that the link leads to', async (t) => {
  const root = t.testdir({ models: { 'a.gguf': '', 'b.gguf': '' } })
  t.equal(defaultModelPath(root), undefined)
  for (const name of ['a.gguf', 'b.gguf']) {
    const file = join(realpathSync(root), 'models', name)
    linkModel(defaultModelLink(root), file)
    t.equal(defaultModelPath(root), file)
  }
  rmSync(join(root, 'models/b.gguf'))
  t.equal(defaultModelPath(root), undefined, 'a file that has gone is no model')
})
