/** The benchmarks' guide shows the results of the runs. */
import t from 'tap'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { benchTable, guidePath, marks } from '../../scripts/bench-table/table.js'
import { root } from '../../scripts/build/paths.js'
import { textBetween } from '../../scripts/markdown.js'

t.test('the table in the guide is that of the results', async (t) => {
  const guide = readFileSync(join(root, guidePath), 'utf8')
  t.equal(textBetween(guide, marks), benchTable(), 'npm run bench:table writes it')
})
