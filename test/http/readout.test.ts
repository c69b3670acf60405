/** `oi serve --readout`: over an engine without a model. */
import t from 'tap'
import { join } from 'node:path'
import { get } from '../helpers/asking.js'
import { RunningCommand } from '../helpers/command.js'

t.test('a server uses the readout of its model and names it on the card', async (t) => {
  const dir = t.testdir({
    'support.jinja': '<|start|>user\n{{ state }}\n{{ question }}<|end|>\n<|start|>assistant\n\n',
    'oi.json': JSON.stringify({
      port: 0,
      dataDir: 'data',
      models: [
        { file: 'a.gguf', name: 'a', readout: 'support.jinja' },
        { file: 'b.gguf', name: 'b' },
      ],
    }),
  })
  const command = new RunningCommand(['serve', '--config', join(dir, 'oi.json')], 'fake')
  t.teardown(() => command.process.kill('SIGKILL'))
  const [, url] = await command.match(/Listening on (\S+)/)
  const [, key] = await command.match(/(oi-[\w-]{43})$/m)
  await command.match(/^Ready$/m)
  const reply = await get({ url: url!, key: key! }, '/v1/models')
  const { models } = (await reply.json()) as { models: { readout: string }[] }
  t.match(models[0]!.readout, /^support@[0-9a-f]{8}$/)
  t.equal(models[1]!.readout, 'letters@1')
})
