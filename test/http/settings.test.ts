/** `oi settings`: the values, their sources, and those of a running server. */
import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SettingReport } from '../../src/config.js'
import { oi } from '../helpers/command.js'
import { Served } from '../helpers/served.js'

const byName = (stdout: string) =>
  new Map((JSON.parse(stdout) as SettingReport[]).map((report) => [report.name, report]))

t.test('a value is shown with its source: flag, variable or file', async (t) => {
  const config = join(t.testdir({ 'oi.json': '{"graceMs":1,"maxQueued":7}' }), 'oi.json')
  const args = ['settings', '--config', config, '--changed', '--max-questions', '9']
  const { code, stdout } = await oi(args, { OI_GRACE_MS: '5' })
  t.equal(code, 0)
  t.match(stdout, /graceMs +5 milliseconds +OI_GRACE_MS +10000$/m)
  t.match(stdout, /maxQueued +7 +file +256$/m)
  t.match(stdout, /maxQuestions +9 +--max-questions +400$/m)
  t.notMatch(stdout, /batchDeadlineMs/)
  const all = byName((await oi(['settings', '--json'])).stdout)
  t.match(all.get('port'), { value: 8080, origin: 'default', flag: '--port', variable: 'OI_PORT' })
})

t.test('an unknown name is refused with the nearest known one, wherever it is', async (t) => {
  const file = join(t.testdir({ 'oi.json': '{"maxQuestion":1}' }), 'oi.json')
  for (const [args, environment, message] of [
    [
      ['--max-question', '1'],
      {},
      /unknown option '--max-question'\s+\(Did you mean --max-questions\?\)/,
    ],
    [[], { OI_MAX_QUESTION: '1' }, /OI_MAX_QUESTION: did you mean OI_MAX_QUESTIONS\?/],
    [['--config', file], {}, /oi\.json: unknown setting maxQuestion: did you mean maxQuestions\?/],
  ] as const) {
    for (const command of ['settings', 'serve']) {
      const { code, stderr } = await oi([command, ...args], environment)
      // An unknown variable may belong to another program: it stops the server alone.
      const warns = command === 'settings' && 'OI_MAX_QUESTION' in environment
      t.equal(code, warns ? 0 : 2)
      t.match(stderr, message)
    }
  }
})

t.test('a running server reports its own settings, as changed by SIGHUP', async (t) => {
  const settings = '{"maxQuestions":9,"metricsHost":"127.0.0.1"}'
  const config = join(t.testdir({ 'oi.json': settings }), 'oi.json')
  const served = await Served.start(t, { model: 'fake', args: ['--config', config] })
  const running = async () => {
    const args = ['settings', '--running', '--json', '--data', served.dataDir]
    return byName((await oi(args)).stdout)
  }
  t.match((await running()).get('maxQuestions'), { value: 9, origin: 'file' })
  writeFileSync(config, '{"maxBodyBytes":5000,"metricsHost":"0.0.0.0"}')
  served.server.child.kill('SIGHUP')
  await served.logged(/SIGHUP: the settings/)
  const after = await running()
  t.match(after.get('maxQuestions'), { value: 400, origin: 'default' })
  t.match(after.get('maxBodyBytes'), { value: 5000, origin: 'file' })
  t.match(after.get('metricsHost'), { value: '127.0.0.1', origin: 'file' }, 'needs a new start')
  t.match(after.get('drainMs'), { value: 0, origin: 'environment' })
})

t.test('without a server, --running is an error', async (t) => {
  const { code, stderr } = await oi(['settings', '--running', '--data', t.testdir()])
  t.equal(code, 1)
  t.match(stderr, /No server runs on the data folder/)
})
