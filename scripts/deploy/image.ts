/**
 * Builds the image and runs it by podman as the guide says, like a new user.
 *
 * @module
 */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../build/paths.js'
import { BuildError, run } from '../build/run.js'
import { holdsWithin } from '../wait.js'
import { baseImage } from './base-image.js'
import type { Ended, Report } from './report.js'

const dockerfile = join(root, 'scripts', 'deploy', 'Dockerfile')
const image = 'localhost/oi:check'
const names = { container: 'oi-check', volume: 'oi-check' }

/** By default podman asks for more than a restricted machine allows. */
const limits = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096']

/** As `docker run` in the guide. Its only network is its own loopback. */
const flags = [
  ...['--name', names.container, '--volume', `${names.volume}:/data`, '--network', 'none'],
  ...['--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL'],
  ...['--security-opt', 'no-new-privileges', '--stop-timeout', '20', ...limits],
]

const startLimitMs = 60_000

function podman(...args: readonly string[]): Ended & { readonly stdout: string } {
  // The other runtime, crun, refuses mixed versions of control groups.
  const { status, stdout, stderr } = spawnSync('podman', ['--runtime', 'runc', ...args], {
    encoding: 'utf8',
  })
  return { status, stdout, output: stdout + stderr }
}

export async function checkImage(report: Report): Promise<void> {
  const text = readFileSync(dockerfile, 'utf8')
  const [, node, suite] = /^ARG NODE_IMAGE=node:(\d+)-(\w+)-slim$/m.exec(text) ?? []
  if (node === undefined || suite === undefined) throw new BuildError('Dockerfile: no NODE_IMAGE')
  const base = await baseImage({ node, suite })
  const from = ['--build-arg', `NODE_IMAGE=${base}`, '--file', dockerfile]
  // Only Docker's format has a health check.
  await run(
    'podman',
    ['build', '--isolation', 'chroot', '--format', 'docker', ...from, '--tag', image, root],
    { quiet: true },
  )
  // A build that was ended from outside ends with 0, too.
  if (podman('image', 'exists', image).status !== 0) {
    throw new BuildError('podman build has left no image')
  }
  report.ok(`the image is built, on Debian ${suite} with Node ${node}`)
  clear()
  try {
    await use(report)
  } finally {
    clear()
  }
}

function clear(): void {
  podman('rm', '--force', '--volumes', names.container)
  podman('volume', 'rm', '--force', names.volume)
}

async function use(report: Report): Promise<void> {
  const volume = ['--volume', `${names.volume}:/data`]
  const once = (...args: readonly string[]) =>
    podman('run', '--rm', '--network', 'none', ...limits, ...volume, image, ...args)
  once('workspaces', 'create', 'default')
  const made = once('keys', 'create', '--name', 'me')
  const key = made.stdout.trim()
  report.check('a key is made before the first start', /^oi-[\w-]{43}$/.test(key), made.output)

  const started = podman('run', '--detach', ...flags, image)
  report.runs('it starts', started)
  const exec = (...args: readonly string[]) => podman('exec', names.container, ...args)
  const probe = () => exec('node', '/app/probe.mjs', '/readyz')
  const isReady = await holdsWithin(startLimitMs, () => probe().status === 0, 200)
  report.check('it is ready', isReady, probe().output + podman('logs', names.container).output)
  const log = podman('logs', names.container).output
  report.check('its log shows no key', !/oi-[\w-]{43}/.test(log), log)
  report.note(/Listening on .*/.exec(log)?.[0] ?? 'it does not say where it listens')

  const health = podman('healthcheck', 'run', names.container)
  report.runs('the health check of the image is passed', health)
  const lost = exec('node', '/app/probe.mjs', '/nowhere')
  report.check('and can fail', lost.status === 1 && /status 404/.test(lost.output), lost.output)

  const question = ['It rains.', '--noul', 'Is it wet?', '--url', 'http://127.0.0.1:8080']
  const asked = exec('oi', 'ask', ...question, '--key', key)
  report.check('it answers', asked.status === 0 && /\d %/.test(asked.output), asked.output)
  const usage = exec('oi', 'workspaces', 'usage', 'default')
  report.says('commands in the container see its accounts', usage, /oi-small/)
  report.says('it is not root', exec('id', '-u'), /^10001$/m)
  const capabilities = exec('sh', '-c', 'grep CapEff /proc/1/status')
  report.says('it has no capabilities', capabilities, /\t0+$/m)
  const writes = 'for at in / /app /usr/local/bin /etc; do touch $at/x && echo $at; done'
  const write = exec('sh', '-c', writes)
  report.check('its root file system is read-only', write.stdout === '', write.output)
  report.says('the server is process 1', exec('cat', '/proc/1/comm'), /^(?:node|MainThread)$/m)

  const fromMs = performance.now()
  const stopped = podman('stop', names.container)
  const tookMs = performance.now() - fromMs
  const state = '{{.State.ExitCode}} {{.State.OOMKilled}}'
  const ended = podman('inspect', '--format', state, names.container)
  const calm = stopped.status === 0 && ended.stdout.trim() === '0 false'
  report.check('SIGTERM ends it with 0', calm, stopped.output + ended.output)
  report.note(`it took ${Math.round(tookMs)} ms, of which 3,000 are --drain-ms`)

  report.says('the volume keeps the key', once('keys', 'list'), RegExp(key.slice(-4)))
  const size = podman('image', 'inspect', '--format', '{{.Size}}', image)
  report.note(`the image has ${Math.round(Number(size.stdout) / 1e6)} MB`)
}
