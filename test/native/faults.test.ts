/** Faults under load in short; a longer run, and more kinds: `npm run faults`. */
import t from 'tap'
import { sanitizedSlowness } from '../../scripts/build/sanitize.js'
import { run } from '../../scripts/faults/run.js'
import { vacantPort } from '../helpers/vacant-port.js'

t.test(
  'kills and nonsense cost no answer, change none, charge none twice, spare the other model, and leave no process',
  { timeout: 300_000, skip: process.platform !== 'linux' && 'processes are found in /proc' },
  async (t) => {
    const seed = Date.now() % 2 ** 31
    t.comment(`seed ${seed}`)
    const { violations } = await run({
      ...{ folder: t.testdir(), port: await vacantPort(), minutes: 0.7, seed, environment: {} },
      slowness: process.env['LD_PRELOAD']?.includes('libasan') ? sanitizedSlowness : 1,
      kinds: ['kill', 'garbage', 'leave', 'slow'],
      say: (lines) => lines.forEach((line) => t.comment(line)),
    })
    t.strictSame(violations, [], violations.join('; ') || 'no violation')
  },
)
