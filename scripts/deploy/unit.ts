/**
 * Runs the unit with this machine's systemd, as the guide says: booted by systemd-nspawn on this
 * machine's own /usr, with everything else empty and no network but loopback. This checkout
 * replaces the npm installation in /opt/oi.
 *
 * @module
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../build/paths.js'
import { BuildError } from '../build/run.js'
import { holdsWithin } from '../wait.js'
import type { Ended, Report } from './report.js'

const source = join(root, 'scripts', 'deploy')
const dropIns = '/etc/systemd/system/oi.service.d'

/** Everything is slow on a busy machine. */
const limitMs = 180_000

export async function checkUnit(report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'oi-unit-'))
  const container = boot(folder)
  try {
    const leader = await leaderOf(container)
    const enter = (...command: readonly string[]): Ended => {
      const args = ['--target', leader, '--all', ...command]
      const { status, stdout, stderr } = spawnSync('nsenter', args, { encoding: 'utf8' })
      return { status, output: stdout + stderr }
    }
    await use(report, enter)
  } finally {
    spawnSync('pkill', ['--signal', 'KILL', '--parent', String(container.pid)])
    rmSync(folder, { recursive: true, force: true })
  }
}

function boot(folder: string): ChildProcess {
  const bin = join(folder, 'opt', 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  mkdirSync(join(folder, 'etc'))
  const main = join(root, 'dist', 'src', 'cli', 'main.js')
  writeFileSync(join(bin, 'oi'), `#!/bin/sh\nexec node ${main} "$@"\n`, { mode: 0o755 })
  writeFileSync(join(folder, 'etc', 'oi.json'), '{ "log": "requests" }\n')
  const binds = [
    [root, root],
    [join(folder, 'opt'), '/opt/oi'],
    [join(folder, 'etc'), '/etc/oi'],
    [join(source, 'systemd', 'oi.service'), '/etc/systemd/system/oi.service'],
  ].map(([from, to]) => `--bind-ro=${from}:${to}`)
  const how = ['--directory=/', '--volatile=yes', '--boot', '--private-network', '--console=pipe']
  const alone = ['--quiet', '--register=no', '--keep-unit', '--machine=oi-check']
  // It would wait for a network.
  const kernel = ['systemd.firstboot=no', 'systemd.mask=systemd-networkd-wait-online.service']
  const target = 'systemd.unit=basic.target'
  return spawn('systemd-nspawn', [...alone, ...how, ...binds, ...kernel, target], {
    stdio: 'ignore',
  })
}

/** The container's process 1, by its id on this machine. */
async function leaderOf(container: ChildProcess): Promise<string> {
  const endMs = performance.now() + limitMs
  while (performance.now() < endMs && container.exitCode === null) {
    const { stdout } = spawnSync('pgrep', ['--parent', String(container.pid)], { encoding: 'utf8' })
    const leader = stdout.split('\n')[0]!
    const state = ['--target', leader, '--all', 'systemctl', 'is-active', 'basic.target']
    if (leader !== '' && spawnSync('nsenter', state).status === 0) return leader
    await sleep(500)
  }
  throw new BuildError(`systemd-nspawn: no systemd has come up (${container.exitCode})`)
}

async function use(report: Report, enter: (...command: readonly string[]) => Ended): Promise<void> {
  const show = (name: string) =>
    enter('systemctl', 'show', '--value', '--property', name, 'oi').output.trim()
  const until = (holds: () => boolean) => holdsWithin(limitMs, holds, 500)
  const status = () =>
    enter('systemctl', 'status', '--no-pager', '--lines=0', 'oi').output +
    enter('journalctl', '--unit=oi', '--no-pager', '--lines=15').output
  const probe = ['node', join(source, 'probe.mjs'), '/readyz']

  const verified = enter('systemd-analyze', 'verify', 'oi.service')
  report.runs('systemd-analyze verify finds nothing', verified)
  enter('systemctl', 'start', 'dbus.socket')
  const oi = (...args: readonly string[]) =>
    enter('bash', '-c', `${commandOfGuide()}\noi "$@"`, 'oi', ...args)
  oi('workspaces', 'create', 'default')
  const made = oi('keys', 'create', '--name', 'me')
  const key = /^oi-[\w-]{43}$/m.exec(made.output)?.[0] ?? ''
  report.check("the guide's command makes a key before the first start", key !== '', made.output)

  const started = enter('systemctl', 'start', 'oi')
  report.runs('it starts, and says when it is ready', started, status())
  report.check('it says what it serves', show('StatusText') === 'Serving oi-small', status())
  report.runs('/readyz says so too', enter(...probe))
  const log = enter('journalctl', '--unit', 'oi', '--no-pager').output
  report.check('its log shows no key', !/oi-[\w-]{43}/.test(log), log)
  report.says('the same command works beside it', oi('keys', 'list'), RegExp(key.slice(-4)))
  const owners = enter('find', '/var/lib/private/oi', '-user', 'root').output
  report.check("nothing in its folder is root's", owners === '', owners)
  report.note(
    enter('systemd-analyze', 'security', '--no-pager', 'oi').output.trim().split('\n').at(-1)!,
  )

  const reloaded = enter('systemctl', 'reload', 'oi')
  const pid = show('MainPID')
  report.runs('it reads its settings again', reloaded)
  enter('pkill', '--signal', 'KILL', '--parent', pid)
  await sleep(1000)
  const back = await until(() => enter(...probe).status === 0)
  const isSame = back && show('MainPID') === pid
  report.check("a model's process that is killed is replaced", isSame, status())

  enter('kill', '-STOP', pid)
  const again = await until(() => show('NRestarts') === '1' && show('ActiveState') === 'active')
  report.check('one that hangs is ended by the watchdog, and started again', again, status())

  const backup = oi('admin', 'backup')
  const checked = oi('admin', 'check')
  const isKept = backup.status === 0 && checked.status === 0
  report.check('a backup is made beside it, and the accounts agree', isKept, backup.output)

  const edits = editsOfGuide()
  const edit = (text: string) =>
    enter('bash', '-c', 'mkdir --parents "$0" && echo "$1" > "$0/override.conf"', dropIns, text)
  for (const text of edits) {
    edit(text)
    const verified = enter('systemd-analyze', 'verify', 'oi.service')
    report.says(`what the guide adds from ${text.split('\n')[1]} on is understood`, verified, /^$/)
  }
  edit(edits.find((text) => text.includes('LoadCredential'))!)
  enter('systemctl', 'daemon-reload')
  enter('systemctl', 'restart', 'oi')
  const secure = enter('env', 'OI_PORT=443', 'OI_TLS_CERT=yes', ...probe)
  report.runs('it speaks TLS at port 443, with files of root', secure, status())

  const fromMs = performance.now()
  enter('systemctl', 'stop', 'oi')
  const tookMs = Math.round(performance.now() - fromMs)
  const how = `${show('Result')} ${show('ExecMainStatus')}`
  report.check('SIGTERM ends it well', how === 'success 0', `${how}\n${status()}`)
  report.note(`it took ${tookMs} ms, of which 3,000 are --drain-ms`)
}

/** The guide's input to `systemctl edit oi`, with an existing certificate. */
function editsOfGuide(): readonly string[] {
  const guide = readFileSync(join(source, 'README.md'), 'utf8')
  const fixtures = join(root, 'test', 'fixtures')
  return [...guide.matchAll(/^```ini\n([^]*?)^```$/gm)].map(([, text]) =>
    text!
      .replaceAll(/\/etc\S*fullchain\.pem/g, join(fixtures, 'localhost.pem'))
      .replaceAll(/\/etc\S*privkey\.pem/g, join(fixtures, 'localhost-key.pem')),
  )
}

/** The shell function of the guide, without sudo. */
function commandOfGuide(): string {
  const guide = readFileSync(join(source, 'README.md'), 'utf8')
  const found = /^oi\(\) \{$[^]*?^\}$/m.exec(guide)?.[0]
  if (found === undefined) throw new BuildError('README.md: no function oi()')
  return found.replace('sudo ', '')
}
