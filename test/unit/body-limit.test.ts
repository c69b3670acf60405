/** The default limit of a body. */

import t from 'tap'
import { bodyLimit, readConfig } from '../../src/config.js'

const limitOf = (flags: Record<string, string>) => {
  const config = readConfig({}, { model: 'a.gguf', ...flags })
  return bodyLimit(config, config.models)
}

t.test('4 MiB for text, 64 MiB if a model sees images, and an explicit value always', async (t) => {
  t.equal(limitOf({}), 4 << 20)
  t.equal(limitOf({ mmproj: 'p.gguf' }), 64 << 20)
  t.equal(limitOf({ mmproj: 'p.gguf', maxBodyBytes: '5000' }), 5000)
  t.equal(limitOf({ maxBodyBytes: '5000000' }), 5_000_000)
})

t.test('one model of several that sees images suffices', async (t) => {
  const [blind, seeing] = [{ mmproj: '' }, { mmproj: 'p.gguf' }]
  t.equal(bodyLimit({ maxBodyBytes: 0 }, [blind, seeing]), 64 << 20)
  t.equal(bodyLimit({ maxBodyBytes: 0 }, [blind, blind]), 4 << 20)
})
