/**
 * An addon for GPUs on a machine without one.
 *
 * Needs such an addon: run by `npm run test:device` and `npm run test:cuda`.
 */
import t from 'tap'
import { oi } from '../helpers/command.js'
import { fixturePath } from '../helpers/fixture.js'

t.test('without a GPU the model runs on the CPU, and a note says so', async (t) => {
  const unseen = ['CUDA_VISIBLE_DEVICES', 'GGML_VK_VISIBLE_DEVICES', 'HIP_VISIBLE_DEVICES']
  const environment = Object.fromEntries(unseen.map((name) => [name, '']))
  const { code, stdout } = await oi(['models', 'inspect', await fixturePath('small')], environment)
  t.equal(code, 0, stdout)
  t.match(stdout, /^ *note +built for \w+, but no GPU was found: the model runs on the CPU$/m)
})
