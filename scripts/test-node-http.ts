/**
 * `npm run test:node-http`: the HTTP tests again, with node:http in place of uWebSockets.js.
 * `OI_TRANSPORT` tells the servers of the tests, in this process and in others.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './build/paths.js'

/** Tests that do not depend on the transport. */
const same: Readonly<Record<string, readonly string[]>> = {
  'they name both transports themselves': ['descriptors', 'transport'],
  'what they have can be spoken by node:http alone': ['tls'],
  'their server is none of ours': ['client-failures', 'client-stream'],
  'they are about commands that ask no server': [
    ...['calibrate', 'cli-money', 'openapi-command', 'readout'],
  ],
  'they are about processes, models and logs, behind what a transport gives them': [
    ...['command-output', 'eval', 'kills', 'replicas', 'running-models', 'server-log'],
    ...['service-manager', 'settings-reload'],
  ],
}

const folder = join('dist', 'test', 'http')
const left = new Set(
  Object.values(same)
    .flat()
    .map((name) => `${name}.test.js`),
)
const all = readdirSync(join(root, folder)).filter((name) => name.endsWith('.test.js'))
for (const name of left) if (!all.includes(name)) throw new Error(`There is no ${name}`)
const chosen = all.filter((name) => !left.has(name)).map((name) => join(folder, name))
const { status } = spawnSync('npx', ['tap', ...process.argv.slice(2), ...chosen], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, OI_TRANSPORT: 'node' },
})
process.exitCode = status ?? 1
