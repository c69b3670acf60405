/**
 * A build by one script is up to date for the others: tests once recompiled what `npm run build`
 * had built, and the next `npm run build` did so again.
 */
import t from 'tap'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from '../../scripts/build/command.js'
import { buildNative, cmakeJsPackage } from '../../scripts/build/native.js'
import { root } from '../../scripts/build/paths.js'

t.test('the command and a script that needs the addon build the same', async (t) => {
  const dir = await buildNative(new Set())
  const stamp = join(dir, 'stamp.json')
  const state = () => [readFileSync(stamp, 'utf8'), statSync(stamp).mtimeMs]
  const before = state()
  t.equal(await build([]), 0)
  t.strictSame(state(), before)
})

t.test('an installed package takes the cmake-js that a checkout has', async (t) => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>
  }
  t.equal(cmakeJsPackage, `cmake-js@${devDependencies['cmake-js']}`)
})
