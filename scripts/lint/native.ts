/**
 * `npm run lint` and `npm run format` for native/: clang-format, where it is installed.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'

const files = readdirSync(join(root, 'native'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:cc|h)$/.test(name))
  .map((name) => join('native', name))
const mode = process.argv[2] === '--write' ? ['-i'] : ['--dry-run', '--Werror']
const { error, status } = spawnSync('clang-format', [...mode, ...files], {
  cwd: root,
  stdio: 'inherit',
})

if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
  console.warn(
    'native/ was left out: clang-format is not installed (Debian: the package clang-format)',
  )
} else if (error !== undefined) {
  throw error
} else {
  process.exitCode = status ?? 1
}
