/**
 * A build by one script is up to date for the others: tests once recompiled what `npm run build`
 * had built, and the next `npm run build` did so again.
 */
import t from 'tap'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from '../../scripts/build/command.js'
import { buildNative } from '../../scripts/build/native.js'

t.test('the command and a script that needs the addon build the same', async (t) => {
  const dir = await buildNative(new Set())
  const stamp = join(dir, 'stamp.json')
  const state = () => [readFileSync(stamp, 'utf8'), statSync(stamp).mtimeMs]
  const before = state()
  t.equal(await build([]), 0)
  t.strictSame(state(), before)
})
