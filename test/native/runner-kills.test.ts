/** The process of a model is killed under load; a longer run is `npm run kills`. */
import t from 'tap'
import { run } from '../../scripts/kills/run.js'
import { vacantPort } from '../helpers/vacant-port.js'

t.test(
  'a kill costs no answer, charges none twice, spares the other model, and leaves no process',
  { timeout: 300_000, skip: process.platform !== 'linux' && 'processes are found in /proc' },
  async (t) => {
    const port = await vacantPort()
    const seed = Date.now() % 2 ** 31
    const options = { folder: t.testdir(), port, times: 8, clients: 32, seed }
    const { lines, violations } = await run(options)
    for (const line of [`seed ${seed}`, ...lines]) t.comment(line)
    t.strictSame(violations, [])
  },
)
