/**
 * A PostgreSQL of the tests' own, from Debian's package, on loopback.
 *
 * It does not force its files to the disk: what is tested ends processes, not machines.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { appendFileSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { until } from './until.js'
import { vacantPort } from './vacant-port.js'

const versions = '/usr/lib/postgresql'

/** The folder of PostgreSQL's programs; undefined: it is not installed. */
function programs(): string | undefined {
  if (!existsSync(versions)) return undefined
  const newest = readdirSync(versions).sort((a, b) => Number(b) - Number(a))[0]
  return newest && join(versions, newest, 'bin')
}

/** Why a test is skipped; in CI it is not. */
export const noPostgres =
  !process.env['CI'] && programs() === undefined && 'postgresql is not installed'

/** PostgreSQL does not run as root. */
const user =
  process.getuid?.() === 0
    ? {
        uid: Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' })),
        gid: Number(execFileSync('id', ['-g', 'nobody'], { encoding: 'utf8' })),
      }
    : {}

export class Postgres {
  readonly port: number
  readonly #folder: string
  readonly #hosts: readonly string[]
  #process: ChildProcess | undefined
  #databases = 0

  /** Ends with the test. @param host - Another address to listen on, and who may come there. */
  static async start(t: Test, host?: { address: string; network: string }): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'oi-postgres-'))
    if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
    const hosts = ['127.0.0.1', ...(host === undefined ? [] : [host.address])]
    const postgres = new Postgres(folder, await vacantPort(), hosts)
    t.teardown(async () => {
      await postgres.kill()
      rmSync(folder, { recursive: true, force: true })
    })
    execFileSync(
      join(programs()!, 'initdb'),
      ['-D', folder, '-A', 'trust', '-U', 'oi', '-N', '--no-locale', '-E', 'UTF8'],
      { ...user, cwd: folder, stdio: 'pipe' },
    )
    if (host !== undefined) {
      appendFileSync(join(folder, 'pg_hba.conf'), `host all all ${host.network} trust\n`)
    }
    await postgres.run()
    return postgres
  }

  private constructor(folder: string, port: number, hosts: readonly string[]) {
    this.#folder = folder
    this.#hosts = hosts
    this.port = port
  }

  /** A new database's address. */
  database(): string {
    const name = `oi${++this.#databases}`
    this.sql(`CREATE DATABASE ${name}`)
    return this.address(name)
  }

  address(name: string, port = this.port, host = '127.0.0.1'): string {
    return `postgres://oi@${host}:${port}/${name}`
  }

  /** The rows that psql prints, without its decoration. */
  sql(text: string, name = 'postgres'): string {
    return execFileSync(
      join(programs()!, 'psql'),
      ['-X', '-A', '-t', '-q', '-v', 'ON_ERROR_STOP=1', '-d', this.address(name), '-c', text],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    ).trim()
  }

  /** Runs until {@link kill}, and again after it; returns once it answers. */
  async run(): Promise<void> {
    const settings = ['fsync=off', `unix_socket_directories=${this.#folder}`, 'max_connections=60']
    this.#process = spawn(
      join(programs()!, 'postgres'),
      [
        ...['-D', this.#folder, '-p', String(this.port), '-h', this.#hosts.join()],
        ...settings.flatMap((setting) => ['-c', setting]),
      ],
      { ...user, cwd: this.#folder, stdio: 'ignore' },
    )
    await until(() => {
      try {
        return this.sql('SELECT 1') === '1'
      } catch {
        return false
      }
    })
  }

  /** SIGKILL, to it and what it has started: nothing is left of its connections. */
  async kill(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const children = execFileSync('ps', ['--ppid', String(child.pid), '-o', 'pid='], {
      encoding: 'utf8',
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    for (const pid of children.split(/\s+/).filter((text) => text !== '')) {
      try {
        process.kill(Number(pid), 'SIGKILL')
      } catch {
        // It has ended with its parent.
      }
    }
    await ended
  }
}
