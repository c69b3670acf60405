/**
 * Programs of other projects that the tests of installed packages run, in fixed versions. Nothing
 * else needs them, so the project does not depend on them: they are installed on first use.
 *
 * @module
 */

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/build/paths.js'
import { run } from '../../scripts/build/run.js'

const versions = {
  '@arethetypeswrong/cli': '0.18.5',
  esbuild: '0.28.2',
  pnpm: '10.34.8',
  publint: '0.3.25',
  yarn: '1.22.22',
} as const

const commands = {
  attw: '@arethetypeswrong/cli',
  esbuild: 'esbuild',
  pnpm: 'pnpm',
  publint: 'publint',
  yarn: 'yarn',
} as const satisfies Record<string, keyof typeof versions>

/** The path of a command; installs its package if necessary. */
export async function tool(command: keyof typeof commands): Promise<string> {
  const name = commands[command]
  const folder = join(root, 'build', 'package-tools', `${command}-${versions[name]}`)
  const path = join(folder, 'node_modules', '.bin', command)
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
    const quiet = ['--silent', '--ignore-scripts', '--no-audit', '--no-fund']
    await run('npm', ['install', ...quiet, `${name}@${versions[name]}`], { cwd: folder })
  }
  return path
}
