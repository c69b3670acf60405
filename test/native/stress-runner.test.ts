/**
 * Random operations through the protocol: a short run of `npm run stress:runner`.
 *
 * Needs the built addon and the small fixture.
 */
import t from 'tap'
import { stressRunner } from '../../scripts/stress-runner/stress.js'
import { fixturePath } from '../helpers/fixture.js'

t.test(
  'every answer of a runner is right, whatever it is asked, and however it ends',
  async (t) => {
    const model = await fixturePath('small')
    const result = await stressRunner({ model, operations: 1500, seed: 1, between: 300 })
    t.strictSame(result.wrong, [])
    t.ok(result.answered > 700, `${result.answered} answered`)
    for (const name of ['aborted', 'expired', 'askedAgain', 'garbage'] as const) {
      t.ok(result[name] > 0, `${result[name]} ${name}`)
    }
    t.ok(Object.keys(result.ends).length > 0, 'some ends')
  },
)
