/** The benchmarks' guide shows the results of the runs. */
import t from 'tap'
import { inGuide } from '../../scripts/markdown.js'
import { tables } from '../../scripts/tables/tables.js'

t.test('the table in the guide is that of the results', async (t) => {
  t.equal(inGuide(tables.bench), tables.bench.make(), 'npm run bench:table writes it')
})
