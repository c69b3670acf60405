/**
 * Programs of others from PyPI, unmodified: jevcompat, typesafe-sdk, openai, pydecide, hev-rerank,
 * LiteLLM's library and its proxy. Skipped where PyPI cannot be reached, but never in CI.
 */
import t from 'tap'
import { pythonEnvironment } from '../../scripts/python/environment.js'
import { programRows, runPrograms } from '../../scripts/python/programs.js'

t.test('programs from PyPI work unmodified, and what is listed as failing fails', async (t) => {
  const environment = await pythonEnvironment()
  if ('missing' in environment) {
    if (process.env['CI']) t.fail(environment.missing)
    else t.pass('skipped', { skip: environment.missing })
    return
  }
  const checks = await runPrograms(environment.python)
  for (const { program, check, why, known } of checks) {
    if (known === undefined) t.equal(why, null, `${program}: ${check}`)
    else t.not(why, null, `${program}: ${check}: fails, as ${known}`)
  }
  const passed = programRows(checks).map(([program, , count]) => [program, Number(count) > 0])
  t.strictSame(
    passed,
    [
      'jevcompat',
      'typesafe-sdk',
      'openai',
      'pydecide',
      'hev-rerank',
      'litellm',
      'litellm proxy',
    ].map((program) => [program, true]),
  )
})
