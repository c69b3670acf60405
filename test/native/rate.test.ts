/** The size of steps on devices of given times: `oi-rate-test`, which is built first. */
import t from 'tap'
import { join } from 'node:path'
import { buildNative } from '../../scripts/build/native.js'

t.test(
  "what a step costs is told from what its tokens do, and steps are as large as a device's speed allows",
  async (t) => {
    t.spawn(join(await buildNative(new Set(), ['oi-rate-test']), 'oi-rate-test'), [])
  },
)
